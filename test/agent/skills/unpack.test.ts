import { randomBytes } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { skillsOfFiles } from '../../../src/agent/skills/read-folder.ts'
import { unpack, unpackTar } from '../../../src/agent/skills/unpack.ts'
import { onlyLong } from '../../support/long.ts'
import { type ArchiveEntry, tarOf, zipOf } from './archives-for-test.ts'
import { plainSkill } from './skill-for-test.ts'

const MAKERS = [
  ['zip', zipOf],
  ['tar.gz', tarOf],
] as const

const GOOD: ArchiveEntry[] = [
  { path: 'a/SKILL.md', content: plainSkill('a') },
  { path: 'a/references/more.md', content: 'More' },
]
const refusal = (message: string | RegExp) =>
  expect.objectContaining({ name: 'SkillError', message: expect.stringMatching(message) })

describe.each(MAKERS)('an archive as %s', (_kind, make) => {
  it('gives its files', async () => {
    const files = await unpack(make(GOOD))
    expect([...files.keys()]).toEqual(['a/SKILL.md', 'a/references/more.md'])
    expect(String(Buffer.from(files.get('a/references/more.md') ?? []))).toBe('More')
  })

  it('gives no hidden files, and no folders', async () => {
    const hidden = ['.git/config', 'a/.env', '__MACOSX/a', './b/'].map((path) => ({ path }))
    const more = hidden.filter(({ path }) => make === zipOf || !path.endsWith('/'))
    expect([...(await unpack(make([...GOOD, ...more]))).keys()]).toEqual([
      'a/SKILL.md',
      'a/references/more.md',
    ])
  })

  it.each([
    ['a way out', { path: '../../etc/passwd', content: 'x' }],
    ['a way out behind a folder', { path: 'a/../../x', content: 'x' }],
    ['an absolute path', { path: '/etc/passwd', content: 'x' }],
    ['a path of Windows', { path: 'a\\..\\..\\x', content: 'x' }],
    ['a drive of Windows', { path: 'C:/x', content: 'x' }],
    ['a link', { path: 'a/link', link: '/etc/passwd' }],
    ['a path twice', { path: 'a/SKILL.md', content: 'x' }],
  ] satisfies [string, ArchiveEntry][])('is refused with %s', async (_case, entry) => {
    await expect(unpack(make([...GOOD, entry]))).rejects.toThrow(refusal(/./))
  })

  it('is refused where it unpacks to too much', onlyLong, async () => {
    const bomb = Array.from({ length: 5 }, (_, index) => ({
      path: `a/${index}`,
      content: new Uint8Array(15_000_000),
    }))
    await expect(unpack(make([...GOOD, ...bomb]))).rejects.toThrow(refusal(/more than/))
  })

  it('is refused with too many files', onlyLong, async () => {
    const many = Array.from({ length: 2_100 }, (_, index) => ({ path: `a/${index}` }))
    await expect(unpack(make(many))).rejects.toThrow(refusal(/more than/))
  })

  it('is refused where it is broken', async () => {
    const bytes = make(GOOD)
    await expect(unpack(bytes.subarray(0, bytes.length / 2))).rejects.toThrow(refusal(/archive/))
  })
})

describe('an archive that lies', () => {
  it('about a size in a zip is detected', async () => {
    const entry = { path: 'a/x', content: 'x'.repeat(100_000), claims: 1 }
    await expect(unpack(zipOf([...GOOD, entry]))).rejects.toThrow(refusal(/false size/))
  })

  it.each<[number, RegExp]>([
    [8_000_000_000, /more than/],
    [20_000_000, /damaged/],
    [2_000, /damaged/],
  ])('about a size in a tar, such as %d, is found out', async (claims, message) => {
    const entry = { path: 'a/x', content: 'x', claims }
    await expect(unpack(tarOf([...GOOD, entry]))).rejects.toThrow(refusal(message))
  })

  it.each(['-5', 'x', '99999999999'])('about a size in a head of its own, %s', async (size) => {
    const line = ` size=${size}\n`
    const head = { path: 'pax', kind: 'x', content: `${line.length + 2}${line}` }
    const entry = { path: 'a/x', content: 'x' }
    await expect(unpack(tarOf([...GOOD, head, entry]))).rejects.toThrow(refusal(/./))
  })

  it('about its long name, which leads out of it', async () => {
    const head = { path: '././@LongLink', kind: 'L', content: '../../etc/passwd\0' }
    const entry = { path: 'a/x', content: 'x' }
    await expect(unpack(tarOf([...GOOD, head, entry]))).rejects.toThrow(refusal(/leads out/))
  })

  it('about its checksum is detected', async () => {
    const tar = gunzipSync(tarOf(GOOD))
    tar.write('b', 0)
    await expect(unpack(gzipSync(tar))).rejects.toThrow(refusal(/damaged/))
  })

  it('is refused with a password', async () => {
    const entry = { path: 'a/x', content: 'x', flags: 0x801 }
    await expect(unpack(zipOf([...GOOD, entry]))).rejects.toThrow(refusal(/encrypted/))
  })

  it.each(['1', '3', '4', '6'])('is refused with an entry of the kind %s', async (kind) => {
    const entry = { path: 'a/x', kind }
    await expect(unpack(tarOf([...GOOD, entry]))).rejects.toThrow(refusal(/link/))
  })

  it('is refused if it is not an archive', async () => {
    await expect(unpack(randomBytes(2_000))).rejects.toThrow(refusal(/archive/))
    await expect(unpack(new Uint8Array())).rejects.toThrow(refusal(/archive/))
  })

  it('is bounded before it is unpacked', onlyLong, async () => {
    const zeros = gzipSync(Buffer.alloc(257_000_000))
    await expect(unpack(zeros)).rejects.toThrow(refusal(/256000000/))
  })
})

describe('a part of a repository', () => {
  const archive = tarOf([
    { path: 'repository-1234/README.md', content: 'x' },
    { path: 'repository-1234/skills/a/SKILL.md', content: plainSkill('a') },
    { path: 'repository-1234/skills-old/b/SKILL.md', content: plainSkill('b') },
    { path: 'repository-1234/link', link: '/etc/passwd' },
  ])

  it.each([
    ['skills', ['a/SKILL.md']],
    ['skills/a', ['SKILL.md']],
    ['other', []],
  ])('is what lies below %s, and nothing else counts', async (below, paths) => {
    expect([...(await unpackTar(archive, { below })).keys()]).toEqual(paths)
  })

  it('may have long names', async () => {
    const path = `repository-1234/${'long/'.repeat(30)}SKILL.md`
    const named = tarOf([
      { path: '././@LongLink', kind: 'L', content: `${path}\0` },
      { path: 'cut', content: 'x' },
      { path: 'pax', kind: 'x', content: '19 path=top/pax.md\n' },
      { path: 'cut', content: 'y' },
    ])
    expect([...(await unpackTar(named, { below: '' })).keys()]).toEqual([
      path.slice('repository-1234/'.length),
      'pax.md',
    ])
  })
})

describe('the skills of an archive', () => {
  it('are found in folders and at the root', async () => {
    const files = await unpack(zipOf(GOOD))
    const { skills } = await skillsOfFiles(files, 'root', 's')
    expect(skills).toMatchObject([{ name: 'a', warnings: [] }])
    expect([...(skills[0]?.files ?? [])].map(([path, { length }]) => [path, length])).toEqual([
      ['references/more.md', 4],
    ])
    const root = await unpack(zipOf([{ path: 'SKILL.md', content: plainSkill('root') }]))
    const found = await skillsOfFiles(root, 'root', 's')
    expect(found.skills).toMatchObject([{ name: 'root', warnings: [] }])
  })

  it('must contain at least one skill', async () => {
    const files = await unpack(zipOf([{ path: 'README.md' }]))
    await expect(skillsOfFiles(files, 'root', 's')).rejects.toThrow('no SKILL.md')
  })
})
