import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import type { AgentServer, Document, DocumentCreated, Metadata } from '../agent-server.ts'
import { REFUSED_FILES } from './refused-files.ts'

/** Files sent as text; all others are sent as files for the server to read. */
const TEXT_EXTENSIONS = ['.txt', '.text', '.md', '.markdown', '.rst', '.adoc', '.org', '.log']
/** Larger text is sent as a file, which is never held in memory whole. */
const MAX_TEXT_BYTES = 4_000_000
const MAX_SLUG = 100
const HASH_CHARACTERS = 16
/** The maximum length of a metadata value. */
const MAX_PATH = 500
/** Seconds that the server delays its response until the document is ready. */
const WAIT_SECONDS = 20

/** Metadata fields that tell where a document came from, and what was sent. */
export const PATH = 'source_path'
const DIGEST = 'source_digest'

/** A file and the document that it becomes. */
export interface FileDocument {
  /** The same for the same path, whatever the file's content. */
  id: string
  /** Whether the server has it in its current version. */
  isIn(document: Pick<Document, 'status' | 'metadata'>): boolean
  /** Sends it; throws the errors of the client and of the file system. */
  send(client: AgentServer, signal: AbortSignal): Promise<DocumentCreated>
}

/** The options that apply to all files. */
export interface GivenFacts {
  metadata: Metadata
  /** Who may read them; as the server has it if undefined. */
  access?: string[] | undefined
  collection?: string | undefined
}

/** `path` must identify the file among all that are ever sent. */
export async function describeFile(
  file: string,
  path: string,
  { metadata: ownMetadata, access, collection }: GivenFacts,
): Promise<FileDocument> {
  const { hash, size } = await hashFile(file)
  const title = basename(path)
  const digest = createHash('sha256')
    .update(
      JSON.stringify([
        hash,
        path,
        Object.entries(ownMetadata).sort(),
        // Their order makes no difference.
        ...(access ? [[...access].sort()] : []),
        ...(collection ? [collection] : []),
      ]),
    )
    .digest('base64url')
  const metadata = { ...ownMetadata, [PATH]: path.slice(-MAX_PATH), [DIGEST]: digest }
  const isText = TEXT_EXTENSIONS.includes(extname(path).toLowerCase())
  const id = documentId(path)

  return {
    id,
    isIn: (document) => document.status === 'ready' && document.metadata?.[DIGEST] === digest,
    async send({ documents }, signal) {
      const options = { wait: WAIT_SECONDS, signal }
      const facts = {
        title,
        metadata,
        ...(access && { access }),
        ...(collection && { collection }),
      }
      const text = isText && size <= MAX_TEXT_BYTES ? await readText(file) : undefined
      return text === undefined
        ? documents.upload(file, { ...options, ...facts, id, name: title })
        : documents.replace(id, { text, ...facts }, options)
    },
  }
}

function documentId(path: string): string {
  const hash = createHash('sha256').update(path).digest('hex').slice(0, HASH_CHARACTERS)
  const slug = path.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  return `${slug.slice(-MAX_SLUG).replace(/^[^A-Za-z0-9]+/, '') || 'file'}-${hash}`
}

async function hashFile(file: string) {
  const hash = createHash('sha256')
  let size = 0
  for await (const part of createReadStream(file)) {
    hash.update(part)
    size += part.length
  }
  return { hash: hash.digest('hex'), size }
}

/** Undefined if it is not UTF-8: the server then decodes it. */
async function readText(file: string): Promise<string | undefined> {
  const handle = await open(file)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await handle.readFile())
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  } finally {
    await handle.close()
  }
}

/** At least as long as the longest signature, and more than a file worth calling blank. */
const START_BYTES = 256

/** The kind of a file whose first bytes show that it cannot be read: `a program`, `an empty file`; else undefined. */
export async function kindNotRead(file: string): Promise<string | undefined> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0)
    const start = buffer.subarray(0, bytesRead)
    if (bytesRead < START_BYTES && start.toString('latin1').trim() === '') return 'an empty file'
    // WebP is an image in a container also used for sound and video.
    if (start.toString('latin1', 8, 12) === 'WEBP') return undefined
    const digits = start.toString('hex')
    // Sending them would only make failed documents.
    return REFUSED_FILES.find(([, mark]) => digits.startsWith(mark))?.[0]
  } finally {
    await handle.close()
  }
}
