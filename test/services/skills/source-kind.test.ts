import { describe, expect, it } from 'vitest'
import { isRemoteSource, kindOfSource } from '../../../src/services/skills/remote.ts'

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

  it.each(['ftp://a.org/x.zip', 'file:///etc/x.zip', 'github:owner', 'github:../../x', 'https://'])(
    'is refused: %s',
    (source) => {
      expect(() => kindOfSource(source)).toThrow(expect.objectContaining({ name: 'SkillError' }))
    },
  )
})
