import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SkillError } from '../../../src/services/skills/read-skill.ts'
import { createRemoteSkills } from '../../../src/services/skills/remote.ts'
import { fileLockFiles } from '../../../src/stores/files/lock-file.ts'
import { createFileSkillCopies } from '../../../src/stores/files/skill-copies.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'
import { plainSkill } from './skill-for-test.ts'

const SOURCE = 'https://example.org/a.zip'
const files = (name: string) => new Map([['SKILL.md', Buffer.from(plainSkill(name))]])

async function openCopies() {
  const directory = await temporaryDirectory()
  return createFileSkillCopies({
    openLockFile: fileLockFiles(directory),
    directory: join(directory, 'skills'),
  })
}

const open = async () => createRemoteSkills(await openCopies())

describe('a remote source', () => {
  it('has no copy before it was read', async () => {
    await expect((await open()).kept(SOURCE)).rejects.toThrow('no copy')
  })

  it('is kept as it was read first', async () => {
    const remote = await open()
    await remote.update(SOURCE, async () => files('a'), false)
    expect(await remote.kept(SOURCE)).toMatchObject({ skills: [{ name: 'a', source: SOURCE }] })
    await expect(remote.kept(`${SOURCE}?other`)).rejects.toThrow('no copy')
  })

  it('keeps its copy where it changes, or holds no skill any more', async () => {
    const remote = await open()
    await remote.update(SOURCE, async () => files('a'), false)
    const changed = await remote.update(SOURCE, async () => files('b'), false)
    expect(changed).toMatchObject({ skills: [{ name: 'a' }], failures: [{ name: SOURCE }] })
    const empty = remote.update(SOURCE, async () => new Map(), true)
    await expect(empty).rejects.toThrow('no SKILL.md')
    expect(await remote.kept(SOURCE)).toMatchObject({ skills: [{ name: 'a' }] })
  })

  it('fails with the reason where there is neither it nor a copy', async () => {
    const away = () => Promise.reject(new SkillError('It is away'))
    await expect((await open()).update(SOURCE, away, false)).rejects.toThrow('It is away')
  })

  it('is judged anew where another server accepts something meanwhile', async () => {
    const copies = await openCopies()
    const other = createRemoteSkills(copies)
    const remote = createRemoteSkills({
      ...copies,
      async accepted(source) {
        const known = await copies.accepted(source)
        if (known === undefined) await other.update(source, async () => files('a'), false)
        return known
      },
    })
    const changed = await remote.update(SOURCE, async () => files('b'), false)
    expect(changed).toMatchObject({ skills: [{ name: 'a' }], failures: [{ name: SOURCE }] })
  })

  it('is given up where others accept something else again and again', async () => {
    const copies = { ...(await openCopies()), keep: async () => false }
    const updating = createRemoteSkills(copies).update(SOURCE, async () => files('a'), true)
    await expect(updating).rejects.toThrow('at the same time')
  })

  it('whose copy is damaged is as good as none', async () => {
    const copies = await openCopies()
    await copies.keep(SOURCE, { digest: 'x', bytes: Buffer.from('[["SKILL.md"') }, undefined)
    await expect(createRemoteSkills(copies).kept(SOURCE)).rejects.toThrow('no copy')
  })
})
