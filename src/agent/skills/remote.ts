import { hash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { ignore } from '@agent-server/lib/ignore.ts'
import { type GuardedFetch, OutboundError } from '@agent-server/lib/outbound/guarded-fetch.ts'
import { isRemoteSource } from '@agent-server/schemas/agent.ts'
import type { SkillCopies } from '@agent-server/stores'
import { z } from 'zod'
import { NO_SKILLS, readFolder, type SkillSet, skillsOfFiles } from './read-folder.ts'
import { type FileContents, MAX_SKILL_BYTES, SKILL_FILE, SkillError } from './read-skill.ts'
import { DEFAULT_SOURCE, type ReadSource } from './skills.ts'
import { MAX_UNPACKED_BYTES, unpack, unpackTar } from './unpack.ts'

/** Another server process may accept something else in the meantime, but not again and again. */
const MAX_TRIES = 5
const ARCHIVE = /\.(?:skill|zip|tar\.gz|tgz)$/i

const Copy = z.array(z.tuple([z.string(), z.base64()]))

/** Keeps remote sources as they were accepted. */
export function createRemoteSkills(copies: SkillCopies) {
  /** The version accepted last. Throws `SkillError` if there is no copy of it. */
  async function copyOf(source: string): Promise<SkillSet> {
    const copy = await copies.read(source)
    const files = copy && decode(copy.bytes)
    if (!files || digestOf(files) !== copy.digest) throw new SkillError('There is no accepted copy')
    return skillsOfFiles(files, nameOf(source), source)
  }

  /** Stores the files as accepted. Returns false if they differ from what was accepted and `accept` is not set. */
  async function keep(source: string, files: FileContents, accept: boolean): Promise<boolean> {
    const digest = digestOf(files)
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const acceptedDigest = await copies.accepted(source)
      if (acceptedDigest !== undefined && acceptedDigest !== digest && !accept) return false
      if (await copies.keep(source, { digest, bytes: encode(files) }, acceptedDigest)) return true
    }
    throw new SkillError('Other content is being accepted at the same time')
  }

  async function fallBack(source: string, reason: string): Promise<SkillSet> {
    const copy = await ignore(copyOf(source), 'without a copy there is nothing to fall back on')
    if (!copy) throw new SkillError(reason)
    const failure = { name: source, reason: `${reason}; the accepted copy is used` }
    return { skills: copy.skills, failures: [...copy.failures, failure] }
  }

  return {
    acceptedCopy: copyOf,
    /**
     * Uses the source's current content if it is new, equal to what was accepted, or accepted by this call. Otherwise,
     * and if the source cannot be fetched, the accepted copy is used and the failure reported. Throws `SkillError` if
     * there is no copy.
     */
    async update(
      source: string,
      fetch: () => Promise<FileContents>,
      accept: boolean,
    ): Promise<SkillSet> {
      let files: FileContents
      try {
        files = await fetch()
      } catch (error) {
        if (error instanceof SkillError) return fallBack(source, error.message)
        throw error
      }
      // Checked before anything is stored: content without a skill counts as a failure.
      const skillSet = await skillsOfFiles(files, nameOf(source), source)
      return (await keep(source, files, accept)) ? skillSet : fallBack(source, CHANGED)
    },
  }
}

const CHANGED =
  'It has changed since it was accepted; review it and accept it with POST /agent/skills/reload {"accept": true}'

/** The digest of the files alone, since the same files may come in different archives. */
function digestOf(files: FileContents): string {
  const parts = [...files].map(([path, content]) => `${hash('sha256', content)} ${path}`)
  return hash('sha256', parts.toSorted().join('\n'))
}

function nameOf(source: string): string {
  const path = URL.parse(source)?.pathname ?? source
  const last = path.split('/').findLast(Boolean) ?? 'skill'
  return last.replace(ARCHIVE, '')
}

function encode(files: FileContents): Uint8Array {
  const copy = [...files].map(([path, content]) => [path, Buffer.from(content).toString('base64')])
  return Buffer.from(JSON.stringify(copy))
}

function decode(bytes: Uint8Array): FileContents | undefined {
  try {
    const copy = Copy.parse(JSON.parse(Buffer.from(bytes).toString('utf8')))
    return new Map(copy.map(([name, content]) => [name, Buffer.from(content, 'base64')]))
  } catch {
    // A damaged copy counts as missing.
    return undefined
  }
}

const MAX_INDEXED = 64

/** The format of `.well-known/agent-skills/index.json`, version 0.2.0 of the draft. */
const Index = z.object({
  skills: z
    .array(
      z.object({
        name: z.string().regex(/^[A-Za-z0-9][\w-]{0,63}$/),
        type: z.enum(['skill-md', 'archive']),
        url: z.string().max(2_000),
        digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
      }),
    )
    .max(MAX_INDEXED),
})

type Fetch = GuardedFetch['fetch']
type Remote = Extract<SourceKind, { url: URL }>

/** Fetches the files of a remote source. Throws `SkillError` if that fails. */
async function fetchSkills(
  remote: Remote,
  fetch: Fetch,
  signal: AbortSignal,
): Promise<FileContents> {
  const bytes = await download(remote.url, fetch, signal)
  switch (remote.kind) {
    case 'skill-url': {
      const folder = remote.url.pathname.split('/').at(-2) || remote.url.hostname
      return new Map([[`${folder}/${SKILL_FILE}`, bytes]])
    }
    case 'archive-url':
      return unpack(bytes)
    case 'github':
      return inFolder(remote.below, await unpackTar(bytes, { below: remote.below }))
    case 'index-url':
      return fetchIndexed(remote.url, bytes, fetch, signal)
    default:
      return remote satisfies never
  }
}

/** If the folder itself is a skill, prefixes its files with the folder's name. */
function inFolder(below: string, files: FileContents): FileContents {
  const name = below.split('/').at(-1)
  if (!name || !files.has(SKILL_FILE)) return files
  return new Map([...files].map(([path, content]) => [`${name}/${path}`, content]))
}

async function fetchIndexed(
  index: URL,
  bytes: Uint8Array,
  fetch: Fetch,
  signal: AbortSignal,
): Promise<FileContents> {
  const all: FileContents = new Map()
  let room = MAX_UNPACKED_BYTES
  for (const { name, type, url, digest } of parseIndex(bytes)) {
    const content = await download(new URL(url, index), fetch, signal)
    if (`sha256:${hash('sha256', content)}` !== digest) {
      throw new SkillError(`The skill "${name}" does not match the index: its digest differs`)
    }
    const files = type === 'archive' ? await unpack(content) : new Map([[SKILL_FILE, content]])
    for (const [path, file] of files) {
      room -= file.length
      if (room < 0) throw new SkillError(`There are more than ${MAX_UNPACKED_BYTES} bytes`)
      all.set(`${name}/${path}`, file)
    }
  }
  return all
}

function parseIndex(bytes: Uint8Array): z.output<typeof Index>['skills'] {
  try {
    return Index.parse(JSON.parse(new TextDecoder().decode(bytes))).skills
  } catch (error) {
    throw new SkillError('There is no skill index of version 0.2.0', { cause: error })
  }
}

async function download(url: URL, fetch: Fetch, signal: AbortSignal): Promise<Uint8Array> {
  try {
    const response = await fetch(url, { signal })
    if (response.ok) return new Uint8Array(await response.arrayBuffer())
    await response.body?.cancel()
    throw new SkillError(`${url.hostname} returned HTTP ${response.status}`)
  } catch (error) {
    if (error instanceof SkillError) throw error
    if (error instanceof OutboundError) throw new SkillError(error.message, { cause: error })
    throw new SkillError(`${url.hostname} did not respond in time`, { cause: error })
  }
}

interface Dependencies {
  /** Resolves a local source to its path. */
  resolve: (source: string) => string
  remote: ReturnType<typeof createRemoteSkills>
  fetch: Fetch
}

/** Reads sources of every kind; offline, a remote source yields the copy that was accepted last. */
export function createSourceReader({ resolve, remote, fetch }: Dependencies): ReadSource {
  return async (source, { offline = false, accept = false }, signal) => {
    const kind = kindOfSource(source)
    if (!('url' in kind)) {
      const read = kind.kind === 'folder' ? readLocalFolder : readArchive
      return read(resolve(source), source)
    }
    if (offline)
      return (await ignore(remote.acceptedCopy(source), 'it is fetched soon')) ?? NO_SKILLS
    return remote.update(source, () => fetchSkills(kind, fetch, signal), accept)
  }
}

async function readLocalFolder(path: string, source: string): Promise<SkillSet> {
  try {
    return await readFolder(path, source)
  } catch (error) {
    // The default folder may be missing.
    if (source === DEFAULT_SOURCE && error instanceof SkillError) return NO_SKILLS
    throw error
  }
}

async function readArchive(path: string, source: string): Promise<SkillSet> {
  const { size } = await stat(path).catch((cause) => {
    throw new SkillError('There is no such file', { cause })
  })
  if (size > MAX_SKILL_BYTES) {
    throw new SkillError(`The archive has more than ${MAX_SKILL_BYTES} bytes`)
  }
  return skillsOfFiles(await unpack(await readFile(path)), nameOf(basename(path)), source)
}

/** The kind of a configured source. */
type SourceKind =
  | { kind: 'folder' | 'archive' }
  | { kind: 'skill-url' | 'archive-url' | 'index-url'; url: URL }
  /** A folder of a GitHub repository, downloaded as the archive that GitHub makes of the repository. */
  | { kind: 'github'; url: URL; below: string }

const GITHUB =
  /^github:(?<owner>(?!\.)[\w.-]+)\/(?<name>(?!\.)[\w.-]+)(?<path>(?:\/[^@]+)?)(?:@(?<ref>[\w./-]+))?$/
const GITHUB_PAGE =
  /^https:\/\/github\.com\/(?<owner>[\w.-]+)\/(?<name>[\w.-]+?)(?:\.git)?(?:\/tree\/(?<ref>[\w.-]+)(?<path>(?:\/.*)?))?\/?$/
const INDEX = '/.well-known/agent-skills/index.json'

/** Throws `SkillError` for what looks like a remote source but is not valid. */
export function kindOfSource(source: string): SourceKind {
  const { groups } = GITHUB.exec(source) ?? GITHUB_PAGE.exec(source) ?? {}
  if (groups) {
    const { owner, name, path = '', ref = 'HEAD' } = groups
    const url = new URL(`https://codeload.github.com/${owner}/${name}/tar.gz/${ref}`)
    return { kind: 'github', url, below: path.replace(/^\/+|(?<!\/)\/+$/g, '') }
  }
  if (source.startsWith('github:')) throw new SkillError('It must be github:owner/repository/path')
  if (!isRemoteSource(source)) return { kind: ARCHIVE.test(source) ? 'archive' : 'folder' }
  const url = URL.parse(source)
  if (!url || !/^https?:$/.test(url.protocol))
    throw new SkillError('It is not an http or https URL')
  if (/\/skill\.md$/i.test(url.pathname)) return { kind: 'skill-url', url }
  if (ARCHIVE.test(url.pathname)) return { kind: 'archive-url', url }
  return { kind: 'index-url', url: url.pathname.endsWith('.json') ? url : new URL(INDEX, url) }
}
