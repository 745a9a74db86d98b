import type { CreateDocument } from './contract.ts'
import type { Deadline } from './deadline.ts'
import { readStream } from './streams.ts'
import type { Body } from './transport.ts'

/** Bytes sent in one chunk. */
const PIECE_BYTES = 65_536

type Stream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/** A path, if there is a file system; a `File` or `Blob`; a stream; or bytes. */
export type UploadSource = string | Blob | Stream | ArrayBuffer | Uint8Array

type Facts = Pick<
  CreateDocument,
  'title' | 'url' | 'metadata' | 'collection' | 'access' | 'conversation'
>

export interface UploadFields extends Facts {
  /** The file's name. Default: that of the path or `File`. The server goes by its extension, so include it. */
  name?: string | undefined
  /** The media type. Default: the server goes by name and content. */
  type?: string | undefined
  /** Called as bytes are sent: how many, and of how many if that is known. Starts at 0 again on a retry. */
  onProgress?: ((sent: number, total: number | undefined) => void) | undefined
}

/** One of several files that are uploaded together. */
export interface SmallFile extends Facts {
  file: Blob
  /** The file's name. Default: that of the `File`. */
  name?: string | undefined
  /** Two files with the same key become one document. */
  idempotencyKey?: string | undefined
}

/** The content of a file from any source. */
interface Content {
  name?: string | undefined
  type?: string | undefined
  /** In bytes, if it is known. */
  size?: number | undefined
  open(): AsyncIterable<Uint8Array>
}

interface PreparedUpload {
  body(deadline: Deadline): Promise<Body>
  /** A stream can be read only once. */
  isRepeatable: boolean
}

/** Prepares a file as the multipart form that the server takes. */
export function prepareUpload(source: UploadSource, fields: UploadFields): PreparedUpload {
  const isRepeatable = !isStream(source)
  const body = async (deadline: Deadline): Promise<Body> => {
    const content = await contentOf(source)
    const name = fields.name ?? content.name ?? 'document'
    const part = { ...content, name, type: fields.type ?? content.type }
    return canStream() ? streamForm(part, fields, deadline) : wholeForm(source, part, fields)
  }
  return { body, isRepeatable }
}

function isStream(source: UploadSource): source is Stream {
  return source instanceof ReadableStream || Symbol.asyncIterator in Object(source)
}

/** Throws a TypeError for anything else, such as the `undefined` of an empty file input. */
async function contentOf(source: UploadSource): Promise<Content> {
  if (typeof source === 'string') return fileAt(source)
  if (source instanceof Blob) {
    const name = source instanceof File ? source.name : undefined
    const type = source.type || undefined
    return { name, type, size: source.size, open: () => readStream(source.stream()) }
  }
  if (source instanceof ReadableStream) return { open: () => readStream(source) }
  if (isStream(source)) return { open: () => source }
  if (source instanceof ArrayBuffer) return contentOf(new Uint8Array(source))
  if (source instanceof Uint8Array) return { size: source.length, open: () => piecesOf(source) }
  throw new TypeError('A file is uploaded from a path, a File or Blob, a stream or bytes')
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/**
 * The part of `process` that Node.js, Deno and Bun share; found at run time, so that bundlers for browsers have
 * nothing to resolve.
 */
interface Runtime {
  getBuiltinModule?(name: 'node:fs'): typeof import('node:fs') | undefined
}

/**
 * Opens the file at a path. Throws errors of the file system, such as ENOENT, and an Error if there is no file system.
 */
async function fileAt(path: string): Promise<Content> {
  const { process }: { process?: Runtime } = globalThis
  const fs = process?.getBuiltinModule?.('node:fs')
  if (!fs) {
    throw new Error('There is no file system to read a path from: upload a File, a Blob or bytes')
  }
  const { size } = await fs.promises.stat(path)
  const name = path.replace(/^.*[/\\]/s, '')
  // Read only up to the size found: bytes appended meanwhile would break the form.
  const open = () => fs.createReadStream(path, size > 0 ? { end: size - 1 } : {})
  return { name, size, open }
}

/**
 * Whether request bodies can be streamed. Browsers do so over HTTP/2 alone, so they use their own form, which reads a
 * `Blob` as it is sent.
 */
function canStream(): boolean {
  return !('document' in globalThis || 'WorkerGlobalScope' in globalThis) || 'Deno' in globalThis
}

async function wholeForm(source: UploadSource, part: Content, fields: UploadFields): Promise<Body> {
  const { name, type } = part
  const form = new FormData()
  for (const [field, value] of textFields(fields)) form.set(field, value)
  const blob = source instanceof Blob ? source : await new Response(toStream(part.open())).blob()
  form.set('file', type ? new Blob([blob], { type }) : blob, name)
  fields.onProgress?.(0, blob.size)
  return { content: form, headers: {} }
}

/** A form with each file behind the fields that belong to it. */
export function formOfFiles(files: readonly SmallFile[]): FormData {
  const form = new FormData()
  for (const { file, name, idempotencyKey, ...fields } of files) {
    for (const [field, value] of textFields(fields)) form.append(field, value)
    if (idempotencyKey !== undefined) form.append('idempotencyKey', idempotencyKey)
    form.append('file', file, name ?? (file instanceof File ? file.name : 'document'))
  }
  return form
}

function textFields(facts: Facts): [string, string][] {
  const { title, url, metadata, collection, access, conversation } = facts
  const fields: [string, string | null | undefined][] = [
    ['title', title],
    ['url', url],
    ['metadata', metadata && JSON.stringify(metadata)],
    ['collection', collection],
    ['access', access && JSON.stringify(access)],
    ['conversation', conversation],
  ]
  return fields.flatMap(([name, value]) => (value == null ? [] : [[name, value]]))
}

/** The form as a stream, following https://www.rfc-editor.org/rfc/rfc7578, with names encoded as browsers do. */
function streamForm(part: Content, fields: UploadFields, deadline: Deadline): Body {
  const boundary = `form-${crypto.getRandomValues(new Uint32Array(4)).join('-')}`
  const disposition = (name: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"`
  const texts = textFields(fields).map(
    ([name, value]) => `${disposition(name)}\r\n\r\n${value}\r\n`,
  )
  const type = part.type?.replaceAll(/[\r\n]/g, ' ') ?? 'application/octet-stream'
  const fileName = escapeName(part.name ?? '')
  const head = `${disposition('file')}; filename="${fileName}"\r\ncontent-type: ${type}\r\n\r\n`
  const before = new TextEncoder().encode(texts.join('') + head)
  const after = new TextEncoder().encode(`\r\n--${boundary}--\r\n`)
  const length = part.size === undefined ? undefined : before.length + part.size + after.length
  let failure: unknown

  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield before
    try {
      yield* watched(part, fields.onProgress, deadline)
    } catch (error) {
      failure = error
      throw error
    }
    yield after
  }
  return {
    content: toStream(pieces()),
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      ...(length !== undefined && { 'content-length': String(length) }),
    },
    failure: () => failure,
  }
}

async function* watched(
  { size, open }: Content,
  onProgress: UploadFields['onProgress'],
  deadline: Deadline,
): AsyncGenerator<Uint8Array> {
  let sentBytes = 0
  onProgress?.(sentBytes, size)
  // While the source is being read, the wait is not for the server.
  deadline.hold()
  for await (const bytes of open()) {
    for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
      const piece = bytes.subarray(start, start + PIECE_BYTES)
      deadline.refresh()
      yield piece
      sentBytes += piece.length
      onProgress?.(sentBytes, size)
      deadline.hold()
    }
  }
  deadline.refresh()
}

function escapeName(name: string): string {
  return name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22')
}

function toStream(bytes: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await iterator.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
