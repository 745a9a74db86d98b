import { isRemoteSource } from '@agent-server/schemas/agent.ts'
import { describe, expect, it } from 'vitest'
import { useSqliteStores } from '../../../packages/stores/test/sqlite/store-data.ts'
import { SkillError } from '../../../src/agent/skills/read-skill.ts'
import { createRemoteSkills, kindOfSource } from '../../../src/agent/skills/remote.ts'
import { plainSkill } from './skill-for-test.ts'

const openSqliteStore = useSqliteStores()

describe('The kind of a source', () => {
  const GITHUB = 'https://codeload.github.com/owner/repo/tar.gz'

  describe('a source', () => {
    it.each([
      ['skills', 'folder', undefined],
      ['./my.skills', 'folder', undefined],
      ['../shared/refunds.skill', 'archive', undefined],
      ['/opt/refunds.tar.gz', 'archive', undefined],
      ['https://a.org/refunds/SKILL.md', 'skill-url', 'https://a.org/refunds/SKILL.md'],
      ['https://a.org/refunds.zip?v=1', 'archive-url', 'https://a.org/refunds.zip?v=1'],
      ['https://a.org', 'index-url', 'https://a.org/.well-known/agent-skills/index.json'],
      ['https://a.org/docs/', 'index-url', 'https://a.org/.well-known/agent-skills/index.json'],
      ['https://a.org/x/index.json', 'index-url', 'https://a.org/x/index.json'],
      ['github:owner/repo', 'github', `${GITHUB}/HEAD`],
      ['github:owner/repo/skills/pdf', 'github', `${GITHUB}/HEAD`],
      ['github:owner/repo/skills@v1.2', 'github', `${GITHUB}/v1.2`],
      ['https://github.com/owner/repo', 'github', `${GITHUB}/HEAD`],
      ['https://github.com/owner/repo/tree/main/skills/pdf', 'github', `${GITHUB}/main`],
    ])('%s is of the kind %s', (source, kind, url) => {
      const found = kindOfSource(source)
      expect(found.kind).toBe(kind)
      expect('url' in found ? found.url.href : undefined).toBe(url && new URL(url).href)
      expect(isRemoteSource(source)).toBe(url !== undefined)
    })

    it('of GitHub knows its folder', () => {
      const below = (source: string) => {
        const found = kindOfSource(source)
        return found.kind === 'github' && found.below
      }
      expect(below('github:owner/repo')).toBe('')
      expect(below('github:owner/repo/skills/pdf@main')).toBe('skills/pdf')
      expect(below('https://github.com/owner/repo/tree/main/skills/pdf/')).toBe('skills/pdf')
    })

    it.each([
      'ftp://a.org/x.zip',
      'file:///etc/x.zip',
      'github:owner',
      'github:../../x',
      'https://',
    ])('is refused: %s', (source) => {
      expect(() => kindOfSource(source)).toThrow(expect.objectContaining({ name: 'SkillError' }))
    })
  })
})

describe('Remote skills', () => {
  const SOURCE = 'https://example.org/a.zip'
  const files = (name: string) => new Map([['SKILL.md', Buffer.from(plainSkill(name))]])

  const openCopies = async () => (await openSqliteStore()).skillCopies
  const open = async () => createRemoteSkills(await openCopies())

  describe('a remote source', () => {
    it('has no copy before it was read', async () => {
      await expect((await open()).acceptedCopy(SOURCE)).rejects.toThrow('no accepted copy')
    })

    it('is kept as it was read first', async () => {
      const remote = await open()
      await remote.update(SOURCE, async () => files('a'), false)
      expect(await remote.acceptedCopy(SOURCE)).toMatchObject({
        skills: [{ name: 'a', source: SOURCE }],
      })
      await expect(remote.acceptedCopy(`${SOURCE}?other`)).rejects.toThrow('no accepted copy')
    })

    it('keeps its copy if it changes, or contains no skill any more', async () => {
      const remote = await open()
      await remote.update(SOURCE, async () => files('a'), false)
      const changed = await remote.update(SOURCE, async () => files('b'), false)
      expect(changed).toMatchObject({ skills: [{ name: 'a' }], failures: [{ name: SOURCE }] })
      const empty = remote.update(SOURCE, async () => new Map(), true)
      await expect(empty).rejects.toThrow('no SKILL.md')
      expect(await remote.acceptedCopy(SOURCE)).toMatchObject({ skills: [{ name: 'a' }] })
    })

    it('fails with the reason if there is neither a source nor a copy', async () => {
      const away = () => Promise.reject(new SkillError('It is away'))
      await expect((await open()).update(SOURCE, away, false)).rejects.toThrow('It is away')
    })

    it('is compared again if another server accepts a copy meanwhile', async () => {
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

    it('fails if other servers keep accepting other copies', async () => {
      const copies = { ...(await openCopies()), keep: async () => false }
      const updating = createRemoteSkills(copies).update(SOURCE, async () => files('a'), true)
      await expect(updating).rejects.toThrow('at the same time')
    })

    it('with a damaged copy counts as one without a copy', async () => {
      const copies = await openCopies()
      await copies.keep(SOURCE, { digest: 'x', bytes: Buffer.from('[["SKILL.md"') }, undefined)
      await expect(createRemoteSkills(copies).acceptedCopy(SOURCE)).rejects.toThrow(
        'no accepted copy',
      )
    })
  })
})
