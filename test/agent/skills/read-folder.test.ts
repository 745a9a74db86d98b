import { rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readFolder } from '../../../src/agent/skills/read-folder.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'
import { folderOf, plainSkill, skillText } from './skill-for-test.ts'

const SHIPPED = fileURLToPath(new URL('../../../skills', import.meta.url))
/** A folder with skills of others, such as a clone of a public collection. */
const COLLECTION = process.env.SKILL_COLLECTION ?? ''

async function read(files: Record<string, string | Uint8Array>) {
  return readFolder(await folderOf(files), 'here')
}

async function warningsOf(fields: Record<string, string>, folder = 'a', body = 'Do it.') {
  const { skills } = await read({ [`${folder}/SKILL.md`]: skillText(fields, body) })
  return skills[0]?.warnings
}

describe('a folder', () => {
  it('finds the skills in it and below it, in order', async () => {
    const { skills, failures } = await read({
      'b/SKILL.md': plainSkill('b'),
      'group/a/SKILL.md': plainSkill('a'),
      'README.md': 'Not a skill',
    })
    expect(skills.map(({ name, source }) => [name, source])).toEqual([
      ['b', 'here'],
      ['a', 'here'],
    ])
    expect(failures).toEqual([])
  })

  it('may be a skill itself', async () => {
    const { skills } = await read({ 'SKILL.md': skillText({ name: 'a', description: 'Does it' }) })
    expect(skills).toMatchObject([{ name: 'a', body: 'Do it.' }])
  })

  it('reports an unusable skill, and loads the others', async () => {
    const { skills, failures } = await read({
      'good/SKILL.md': plainSkill('good'),
      'mute/SKILL.md': skillText({ name: 'mute' }),
      'code/SKILL.md': '---js\nthrow 1\n---\n',
      'long/SKILL.md': `${plainSkill('long')}${'a'.repeat(1_000_000)}`,
    })
    expect(skills.map(({ name }) => name)).toEqual(['good'])
    expect(failures).toEqual([
      { name: 'code', reason: expect.stringContaining('---') },
      { name: 'long', reason: expect.stringContaining('longer') },
      { name: 'mute', reason: expect.stringContaining('description') },
    ])
  })

  it('reads resources, but no hidden files', async () => {
    const { skills } = await read({
      'a/SKILL.md': plainSkill('a'),
      'a/references/more.md': 'More',
      'a/scripts/run.py': 'print(1)',
      'a/.git/config': 'hidden',
      'a/.env': 'hidden',
    })
    const files = [...(skills[0]?.files ?? [])]
    expect(files.map(([path, content]) => [path, String(content)])).toEqual([
      ['references/more.md', 'More'],
      ['scripts/run.py', 'print(1)'],
    ])
  })

  it.each(['skill.md', 'Skill.md', 'SKILL.MD'])(
    'takes %s for the file, with a warning',
    async (name) => {
      const { skills, failures } = await read({ [`a/${name}`]: plainSkill('a') })
      expect(failures).toEqual([])
      expect(skills).toMatchObject([
        { name: 'a', warnings: [`The file should be called SKILL.md, not ${name}`] },
      ])
      expect(skills[0]?.files.size).toBe(0)
    },
  )

  it.each([
    ['UTF-16', Buffer.from(`\ufeff${plainSkill('a')}`, 'utf16le')],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${plainSkill('a')}`)],
  ])('reads a file in %s', async (_case, bytes) => {
    const { skills } = await read({ 'a/SKILL.md': bytes })
    expect(skills).toMatchObject([{ name: 'a', body: 'Do it.', warnings: [] }])
  })

  it('follows a link to the folder of a skill, and names the others', async () => {
    const outside = await folderOf({ 'a/SKILL.md': plainSkill('a'), 'none/README.md': 'x' })
    const root = await folderOf({ 'b/README.md': 'x' })
    await symlink(join(outside, 'a'), join(root, 'a'))
    await symlink(join(outside, 'none'), join(root, 'none'))
    await symlink(join(outside, 'gone'), join(root, 'gone'))
    await symlink(join(outside, 'a', 'SKILL.md'), join(root, 'b', 'SKILL.md'))
    const { skills, failures } = await readFolder(root, 'here')
    expect(skills.map(({ name }) => name)).toEqual(['a'])
    expect(failures.toSorted((one, other) => (one.name < other.name ? -1 : 1))).toEqual([
      { name: 'b', reason: 'SKILL.md is a link, which is not followed' },
      { name: 'gone', reason: expect.stringContaining('cannot be followed') },
      { name: 'none', reason: 'It is a link to a folder without SKILL.md' },
    ])
  })

  it('follows no link out of a skill, not even one changed later', async () => {
    const root = await folderOf({ 'a/SKILL.md': plainSkill('a'), 'a/file.md': 'Mine' })
    const outside = await folderOf({ secret: 'Not yours' })
    await symlink(join(outside, 'secret'), join(root, 'a', 'link.md'))
    await symlink(outside, join(root, 'a', 'folder'))
    const { skills } = await readFolder(root, 'here')
    const files = skills[0]?.files
    expect([...(files?.keys() ?? [])]).toEqual(['file.md'])

    await rm(join(root, 'a', 'file.md'))
    await symlink(join(outside, 'secret'), join(root, 'a', 'file.md'))
    expect(String(files?.get('file.md'))).toBe('Mine')
  })

  it('is refused where a skill has too many files', async () => {
    const many = Array.from({ length: 600 }, (_, index) => [`a/f${index}`, 'x'])
    const { failures } = await read({ 'a/SKILL.md': plainSkill('a'), ...Object.fromEntries(many) })
    expect(failures).toMatchObject([{ name: 'a', reason: expect.stringContaining('512') }])
  })

  it('is refused where there is none', async () => {
    const root = await temporaryDirectory()
    await expect(readFolder(join(root, 'none'), 'here')).rejects.toThrow('no such folder')
    await writeFile(join(root, 'file'), '')
    await expect(readFolder(join(root, 'file'), 'here')).rejects.toThrow()
  })
})

describe('a skill that departs from the format', () => {
  const good = { name: 'a', description: 'Does it' }

  it.each<[string, Record<string, string>, RegExp]>([
    ['another name than its folder', { ...good, name: 'b' }, /name of its folder/],
    ['capitals in its name', { ...good, name: 'My-Skill' }, /^name: is not lower-case/],
    ['no name', { description: 'Does it' }, /^name: /],
    ['a long description', { ...good, description: 'a'.repeat(2_000) }, /^description: is longer/],
    ['an unknown field', { ...good, version: '1' }, /^version: is not a field/],
    ['metadata that is no text', { ...good, metadata: '{ a: 1 }' }, /^metadata\.a: /],
    ['tools as a list', { ...good, 'allowed-tools': '[Read, Bash]' }, /^allowed-tools: /],
  ])('is used with a warning: %s', async (_case, fields, warning) => {
    expect(await warningsOf(fields)).toContainEqual(expect.stringMatching(warning))
  })

  it('is advised to be shorter', async () => {
    expect(await warningsOf(good, 'a', 'x\n'.repeat(600))).toContainEqual(
      expect.stringContaining('600 lines'),
    )
  })

  it('gets no warning if it follows the format', async () => {
    const all = {
      ...good,
      license: 'MIT',
      compatibility: 'Any',
      metadata: '{ a: "1" }',
      'allowed-tools': 'Read Bash(git:*)',
    }
    expect(await warningsOf(all)).toEqual([])
  })
})

describe('the skills that come with the server', () => {
  it('are to format', async () => {
    const { skills, failures } = await readFolder(SHIPPED, 'skills')
    expect(failures).toEqual([])
    expect(skills.map(({ name, warnings }) => [name, warnings])).toEqual([
      ['briefing', []],
      ['compare-documents', []],
      ['timeline', []],
    ])
  })

  it('have every resource that they name', async () => {
    const { skills } = await readFolder(SHIPPED, 'skills')
    for (const { body, files } of skills) {
      const named = body.matchAll(/`((?:assets|references|scripts)\/[^`]+)`/g)
      expect([...files.keys()]).toEqual(
        expect.arrayContaining(named.map(([, path]) => path).toArray()),
      )
    }
  })
})

describe.skipIf(COLLECTION === '')('A public collection (needs SKILL_COLLECTION)', () => {
  it('loads without a failure', async () => {
    const { skills, failures } = await readFolder(COLLECTION, 'collection')
    expect(failures).toEqual([])
    expect(skills.length).toBeGreaterThan(0)
  })
})
