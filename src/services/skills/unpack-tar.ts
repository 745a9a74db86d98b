import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { archivePath } from './archive-path.ts'
import { SkillError } from './skill.ts'
import { type Files, startUnpacking } from './unpack-limits.ts'

const BLOCK = 512
/** A whole repository may be in the archive, of which a part is wanted. */
const MAXIMUM_TAR_BYTES = 256_000_000

const KIND = { file: '0', old: '\0', folder: '5', longName: 'L', pax: 'x', paxGlobal: 'g' }

const inflate = promisify(gunzip)

interface TarEntry {
  name: string
  kind: string
  content: Buffer
}

/**
 * The files of a gzipped tar archive. Of a repository's archive, those below a path, where the archive's own
 * folder does not count. Throws `SkillError`.
 */
export async function unpackTar(bytes: Uint8Array, part?: { below: string }): Promise<Files> {
  const unpacking = startUnpacking()
  for (const { name, kind, content } of namedEntries(await inflateBounded(bytes))) {
    const path = placeOf(name, part)
    if (path === undefined || kind === KIND.folder) continue
    if (kind !== KIND.file && kind !== KIND.old) throw new SkillError('The archive holds a link')
    unpacking.reserve(path, content.length)
    unpacking.files.set(path, Uint8Array.from(content))
  }
  return unpacking.files
}

/** The entries under their whole names, which may stand in entries of their own before them. */
function* namedEntries(tar: Buffer): Generator<TarEntry> {
  let longName: string | undefined
  for (const entry of entriesOf(tar)) {
    if (entry.kind === KIND.longName) longName = text(entry.content)
    else if (entry.kind === KIND.pax) longName = paxPath(entry.content) ?? longName
    else if (entry.kind !== KIND.paxGlobal) {
      yield { ...entry, name: longName ?? entry.name }
      longName = undefined
    }
  }
}

async function inflateBounded(bytes: Uint8Array): Promise<Buffer> {
  try {
    return await inflate(bytes, { maxOutputLength: MAXIMUM_TAR_BYTES })
  } catch (error) {
    throw new SkillError(
      `The archive is not gzipped, is broken, or has more than ${MAXIMUM_TAR_BYTES} bytes`,
      { cause: error },
    )
  }
}

function* entriesOf(tar: Buffer): Generator<TarEntry> {
  for (let at = 0; at + BLOCK <= tar.length; ) {
    const head = tar.subarray(at, at + BLOCK)
    if (head.every((byte) => byte === 0)) return
    const size = Number.parseInt(text(head.subarray(124, 136)).trim() || '0', 8)
    const end = at + BLOCK + size
    if (!Number.isSafeInteger(size) || size < 0 || end > tar.length) {
      throw new SkillError('The archive is broken')
    }
    const prefix = text(head.subarray(257, 262)) === 'ustar' ? text(head.subarray(345, 500)) : ''
    const name = text(head.subarray(0, 100))
    yield {
      name: prefix ? `${prefix}/${name}` : name,
      kind: String.fromCharCode(head[156] ?? 0),
      content: tar.subarray(at + BLOCK, end),
    }
    at = end + ((BLOCK - (size % BLOCK)) % BLOCK)
  }
}

/** Where an entry goes; nothing for one that is not wanted. */
function placeOf(name: string, part: { below: string } | undefined): string | undefined {
  const path = archivePath(name)
  if (!part || path === undefined) return path
  const inside = path.split('/').slice(1).join('/')
  const below = part.below === '' ? '' : `${part.below}/`
  return inside.startsWith(below) ? inside.slice(below.length) || undefined : undefined
}

/** `30 path=folder/file\n` */
function paxPath(content: Buffer): string | undefined {
  return /^\d+ path=(.*)$/m.exec(content.toString('utf8'))?.[1]
}

function text(bytes: Buffer): string {
  const end = bytes.indexOf(0)
  return bytes.toString('utf8', 0, end === -1 ? bytes.length : end)
}
