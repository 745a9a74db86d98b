import { createHash, type Hash } from 'node:crypto'
import { AppError } from '../../errors.ts'
import type { FormPart } from '../../lib/form-part.ts'
import { freeYoungMemory } from '../../lib/free-young-memory.ts'
import { FileFields } from '../../schemas/document-file.ts'
import { toStorable } from '../../schemas/text.ts'
import type { FileStore, NewFile } from '../../stores/file-store.ts'
import { mediaTypeOf } from '../extraction/file-kind.ts'

const LONGEST_NAME = 255
/** What of an upload may wait to be collected. */
const BYTES_BETWEEN_COLLECTIONS = 8 * 2 ** 20

export interface ReceivedFile {
  file: NewFile
  fields: FileFields
  /** Of all that was sent, the bytes included. */
  digest: string
}

type FilePart = Extract<FormPart, { kind: 'file' }>

/**
 * Keeps the file of a form, and reads the fields beside it. Nothing is kept of a form that is not whole or
 * not right. Throws `invalid_request`, what the store throws, and what `parts` throws.
 */
export async function receiveFile(
  parts: AsyncIterable<FormPart>,
  store: Pick<FileStore, 'keepFile' | 'dropFile'>,
): Promise<ReceivedFile> {
  const fields = new Map<string, string>()
  const hash = createHash('sha256')
  let file: NewFile | undefined
  try {
    for await (const part of parts) {
      if (part.kind === 'field') setField(fields, part.name, part.value)
      else if (file || part.name !== 'file') throw notOneFile(part.name)
      else file = await keep(part, hash, store)
    }
    if (!file) throw invalid('file', 'is required: a part with the bytes of the file')
    if (file.size === 0) throw invalid('file', 'must not be empty')
    const read = readFields(fields)
    return { file, fields: read, digest: digestOf(file, read, hash) }
  } catch (error) {
    if (file) await store.dropFile(file.number)
    throw error
  }
}

async function keep(
  { fileName, mediaType, bytes }: FilePart,
  hash: Hash,
  store: Pick<FileStore, 'keepFile'>,
): Promise<NewFile> {
  const name = plainName(fileName)
  const kept = await store.keepFile(hashed(bytes, hash))
  return { name, mediaType: mediaTypeOf(name, mediaType), ...kept }
}

async function* hashed(bytes: AsyncIterable<Uint8Array>, hash: Hash) {
  let passed = 0
  for await (const piece of bytes) {
    hash.update(piece)
    passed += piece.length
    if (passed >= BYTES_BETWEEN_COLLECTIONS) {
      freeYoungMemory()
      passed = 0
    }
    yield piece
  }
}

/** Without a path, and without what no file system would take. */
function plainName(name = ''): string {
  const last = name.split(/[\\/]/).at(-1) ?? ''
  // How browsers write a quotation mark: https://html.spec.whatwg.org/#multipart-form-data
  const printable = toStorable(last)
    .replaceAll('%22', '"')
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
  return printable.slice(0, LONGEST_NAME).toWellFormed() || 'file'
}

function setField(fields: Map<string, string>, name: string, value: string): void {
  if (fields.has(name)) throw invalid(name, 'must be sent once')
  fields.set(name, value)
}

function readFields(fields: ReadonlyMap<string, string>): FileFields {
  const result = FileFields.safeParse(Object.fromEntries(fields))
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw invalid(issue?.path.join('.') ?? '', issue?.message ?? 'is invalid')
}

function digestOf(file: NewFile, { title, url, metadata = {} }: FileFields, hash: Hash): string {
  const facts = Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1))
  const content = [hash.digest('base64url'), file.name, file.mediaType, title, url, facts]
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url')
}

function notOneFile(name: string): AppError {
  return invalid(name, 'must be the only part with a file, and its name must be "file"')
}

function invalid(param: string, message: string): AppError {
  return new AppError('invalid_request', `${param}: ${message}`, { param })
}
