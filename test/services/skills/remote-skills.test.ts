import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openLockFile } from '../../../src/lib/lock-file.ts'
import {
  createRemoteSkills,
  NO_SKILL_PINS,
  SkillPins,
} from '../../../src/services/skills/remote-skills.ts'
import { SkillError } from '../../../src/services/skills/skill.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'
import { plainSkill } from './skill-for-test.ts'

const SOURCE = 'https://example.org/a.zip'
const files = (name: string) => new Map([['SKILL.md', Buffer.from(plainSkill(name))]])

async function open() {
  const directory = await temporaryDirectory()
  const lock = await openLockFile(join(directory, 'lock.json'), SkillPins, NO_SKILL_PINS)
  return createRemoteSkills({ lock, directory: join(directory, 'skills') })
}

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
})
