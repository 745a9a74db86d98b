import { SkillError } from './skill.ts'

/** What a source of the configuration is. */
export type SourceKind =
  | { kind: 'folder' }
  | { kind: 'archive' }
  | { kind: 'skill-url'; url: URL }
  | { kind: 'archive-url'; url: URL }
  | { kind: 'index-url'; url: URL }
  /** A folder of a repository on GitHub, as the archive that GitHub makes of it. */
  | { kind: 'github'; url: URL; below: string }

const ARCHIVE = /\.(?:skill|zip|tar\.gz|tgz)$/i
const GITHUB = /^github:((?!\.)[\w.-]+)\/((?!\.)[\w.-]+)((?:\/[^@]+)?)(?:@([\w./-]+))?$/
const GITHUB_PAGE =
  /^https:\/\/github\.com\/([\w.-]+)\/([\w.-]+?)(?:\.git)?(?:\/tree\/([\w.-]+)((?:\/.*)?))?\/?$/
const INDEX = '/.well-known/agent-skills/index.json'

/** Throws `SkillError` for what looks like a source and is none. */
export function kindOfSource(source: string): SourceKind {
  const [, owner, repository, path = '', ref] = GITHUB.exec(source) ?? []
  if (owner && repository) return github(owner, repository, path, ref)
  if (source.startsWith('github:')) throw new SkillError('It must be github:owner/repository/path')
  const page = GITHUB_PAGE.exec(source)
  if (page?.[1] && page[2]) return github(page[1], page[2], page[4] ?? '', page[3])
  if (!isRemoteSource(source)) {
    return { kind: ARCHIVE.test(source) ? 'archive' : 'folder' }
  }
  return kindOfUrl(URL.parse(source))
}

function kindOfUrl(url: URL | null): SourceKind {
  if (!url || !/^https?:$/.test(url.protocol)) throw new SkillError('It is no URL of http or https')
  if (/\/skill\.md$/i.test(url.pathname)) return { kind: 'skill-url', url }
  if (ARCHIVE.test(url.pathname)) return { kind: 'archive-url', url }
  return { kind: 'index-url', url: url.pathname.endsWith('.json') ? url : new URL(INDEX, url) }
}

/** Whether somebody else has to be asked for it. */
export function isRemoteSource(source: string): boolean {
  return source.startsWith('github:') || /^[a-z][a-z\d+.-]+:\/\//i.test(source)
}

function github(owner: string, repository: string, path: string, ref = 'HEAD'): SourceKind {
  const url = new URL(`https://codeload.github.com/${owner}/${repository}/tar.gz/${ref}`)
  return { kind: 'github', url, below: path.replace(/^\/+|\/+$/g, '') }
}
