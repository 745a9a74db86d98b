import { hash } from 'node:crypto'
import { z } from 'zod'
import type { GuardedFetch } from '../../lib/outbound/guarded-fetch.ts'
import { OutboundError } from '../../lib/outbound/outbound-error.ts'
import { SKILL_FILE, SkillError } from './skill.ts'
import type { SourceKind } from './source-kind.ts'
import type { Files } from './unpack-limits.ts'
import { MAXIMUM_UNPACKED_BYTES } from './unpack-limits.ts'
import { unpackTar } from './unpack-tar.ts'
import { unpackZip } from './unpack-zip.ts'

const MAXIMUM_INDEXED = 64
const ZIP_MARK = 'PK'

/** `.well-known/agent-skills/index.json`, version 0.2.0 of the draft. */
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
    .max(MAXIMUM_INDEXED),
})

type Fetch = GuardedFetch['fetch']
type Remote = Exclude<SourceKind, { kind: 'folder' | 'archive' }>

/** The files of a remote source. Throws `SkillError` where there are none to be had. */
export async function fetchSkills(
  remote: Remote,
  fetch: Fetch,
  signal: AbortSignal,
): Promise<Files> {
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

/** The archive's kind is told by its first bytes, for names and media types are often wrong. */
export function unpack(bytes: Uint8Array): Promise<Files> {
  const mark = Buffer.from(bytes.subarray(0, ZIP_MARK.length)).toString('latin1')
  return mark === ZIP_MARK ? unpackZip(bytes) : unpackTar(bytes)
}

/** A skill that is the folder itself keeps the folder's name. */
function inFolder(below: string, files: Files): Files {
  const name = below.split('/').at(-1)
  if (!name || !files.has(SKILL_FILE)) return files
  return new Map([...files].map(([path, content]) => [`${name}/${path}`, content]))
}

async function fetchIndexed(
  index: URL,
  bytes: Uint8Array,
  fetch: Fetch,
  signal: AbortSignal,
): Promise<Files> {
  const all: Files = new Map()
  let room = MAXIMUM_UNPACKED_BYTES
  for (const { name, type, url, digest } of parseIndex(bytes)) {
    const content = await download(new URL(url, index), fetch, signal)
    if (`sha256:${hash('sha256', content)}` !== digest) {
      throw new SkillError(`The skill "${name}" is not what the index says: its digest differs`)
    }
    const files: Files =
      type === 'archive' ? await unpack(content) : new Map([[SKILL_FILE, content]])
    for (const [path, file] of files) {
      room -= file.length
      if (room < 0) throw new SkillError(`There are more than ${MAXIMUM_UNPACKED_BYTES} bytes`)
      all.set(`${name}/${path}`, file)
    }
  }
  return all
}

function parseIndex(bytes: Uint8Array): z.output<typeof Index>['skills'] {
  try {
    return Index.parse(JSON.parse(new TextDecoder().decode(bytes))).skills
  } catch (error) {
    throw new SkillError('There is no index of skills of version 0.2.0', { cause: error })
  }
}

async function download(url: URL, fetch: Fetch, signal: AbortSignal): Promise<Uint8Array> {
  try {
    const response = await fetch(url, { signal })
    if (response.ok) return new Uint8Array(await response.arrayBuffer())
    await response.body?.cancel()
    throw new SkillError(`${url.hostname} answers HTTP ${response.status}`)
  } catch (error) {
    if (error instanceof SkillError) throw error
    if (error instanceof OutboundError) throw new SkillError(error.message, { cause: error })
    throw new SkillError(`${url.hostname} did not give it in time`, { cause: error })
  }
}
