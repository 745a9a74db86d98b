import { createHash, type Hash } from 'node:crypto'
import { AppError } from '@agent-server/lib/errors.ts'
import { composed, toStorable } from '@agent-server/lib/fields.ts'
import { createLimiter, type Owner } from '@agent-server/lib/limiter.ts'
import { mediaTypeOfUpload } from '@agent-server/readers'
import type { DocumentCreated } from '@agent-server/schemas/document.ts'
import {
  type FieldPart,
  FileFields,
  type FilePart,
  type FormPart,
} from '@agent-server/schemas/new-document.ts'
import { shareOf } from '@agent-server/schemas/operator/api-key.ts'
import { forCallerById, type Reader } from '@agent-server/schemas/visibility.ts'
import {
  type DocumentStore,
  discard,
  type FileStore,
  type NewFile,
  type StoredFile,
} from '@agent-server/stores'
import { type Documents, digestOf } from './documents.ts'
import { createEach } from './upload-batch.ts'

/** Each upload holds a piece or two in memory and shares the disk with all others. */
const MAX_UPLOADS = 16
const RETRY_SECONDS = 5

interface Dependencies {
  store: Pick<DocumentStore, 'stageFile' | 'dropStaged' | 'readFile'>
}

type IntoDocuments = Pick<Documents, 'create' | 'put' | 'get' | 'list'>

export type Uploads = ReturnType<ReturnType<typeof createFiles>>

/**
 * What callers do with documents that are files, each with its view of the documents and all within the same limits.
 */
export function createFiles({ store }: Dependencies) {
  const uploads = createLimiter({ name: 'uploads', capacity: MAX_UPLOADS })

  /** Throws `too_many_uploads`. */
  const inTurn = async <Result>(owner: Owner, work: () => Promise<Result>) => {
    const leave = uploads.take(owner)
    if (!leave) {
      const message = 'Too many files are being uploaded at the same time'
      throw new AppError('too_many_uploads', message, { retryAfter: RETRY_SECONDS })
    }
    try {
      return await work()
    } finally {
      leave()
    }
  }

  /** Throws what `receiveFile` and `take` throw; the file is then dropped. */
  const receive = async (
    parts: AsyncIterable<FormPart>,
    owner: Owner,
    take: (received: ReceivedFile) => Promise<DocumentCreated>,
  ) => {
    const received = await receiveFile(parts, store, owner)
    return take(received).catch(async (error: unknown) => {
      await discard(store, received.content.file.number)
      throw error
    })
  }

  const createIn =
    (target: IntoDocuments, owner: Owner) =>
    (parts: AsyncIterable<FormPart>, idempotencyKey?: string) =>
      receive(parts, owner, async ({ content, digest }) => {
        const same = { sha256: content.file.sha256, sort: 'createdAt', limit: 2 } as const
        // First: an error after the document is stored would hide that it was.
        const { documents } = await target.list(same)
        const created = await target.create(content, idempotencyKey, digest)
        const other = documents.find(({ id }) => id !== created.id)
        return { ...created, ...(other && { sameFile: other.id }) }
      })

  return (documents: IntoDocuments, caller: Reader, owner = shareOf(caller)) => ({
    /** Like `Documents.create`, for the file in a form. */
    create: (parts: AsyncIterable<FormPart>, idempotencyKey?: string) =>
      inTurn(owner, () => createIn(documents, owner)(parts, idempotencyKey)),

    /** See `createEach`; all files of a form count as one upload. */
    createAll: (parts: AsyncIterable<FormPart>, maxFileBytes: number, signal: AbortSignal) =>
      inTurn(owner, () =>
        createEach(parts, { create: createIn(documents, owner), maxFileBytes }, signal),
      ),

    /** Like `Documents.put`, for the file in a form. */
    put: (id: string, parts: AsyncIterable<FormPart>) =>
      inTurn(owner, () => receive(parts, owner, ({ content }) => documents.put(id, content))),

    /** The original file of a document. Throws `document_not_found`, and `file_not_found` if it was sent as text. */
    async read(idOrOwnId: string): Promise<StoredFile & { pieces: AsyncIterable<Uint8Array> }> {
      const { id, file } = await documents.get(idOrOwnId)
      const pieces = file && (await store.readFile(forCallerById(caller), id))
      if (file && pieces) return { ...file, pieces }
      const message = `The document "${id}" was sent as text, not as a file. Use GET /documents/{id}/text.`
      throw new AppError('file_not_found', message, { param: 'id' })
    },
  })
}

const MAX_NAME = 255

interface ReceivedFile {
  /** The title defaults to the file's name. */
  content: FileFields & { text: ''; file: NewFile }
  /** Covers everything that was sent, including the bytes of the file. */
  digest: string
}

/**
 * Stages the file of a form and reads the fields beside it. If the form is incomplete or invalid, the staged file is
 * dropped. Throws `invalid_request`, what the store throws, and what `parts` throws.
 */
export async function receiveFile(
  parts: AsyncIterable<FormPart>,
  store: Pick<FileStore, 'stageFile' | 'dropStaged'>,
  owner?: Owner,
): Promise<ReceivedFile> {
  const fields = new Map<string, string>()
  const hash = createHash('sha256')
  let file: NewFile | undefined
  try {
    for await (const part of parts) {
      if (part.kind === 'field') setField(fields, part)
      else if (file || part.name !== 'file') {
        throw invalid(part.name, 'must be the only part with a file, and its name must be "file"')
      } else file = await stage(part, hash, store, owner)
    }
    if (!file) throw invalid('file', 'is required: a form field with the file')
    if (file.size === 0) throw invalid('file', 'must not be empty')
    const values = readFields(fields)
    const { title = file.name } = values
    const bytes = hash.digest()
    const sha256 = bytes.toString('hex')
    const sent = [bytes.toString('base64url'), file.name, file.mediaType]
    const content = { text: '' as const, file: { ...file, sha256 }, ...values, title }
    return { content, digest: digestOf(sent, values) }
  } catch (error) {
    if (file) await discard(store, file.number)
    throw error
  }
}

async function stage(
  { fileName, mediaType, bytes }: FilePart,
  hash: Hash,
  store: Pick<FileStore, 'stageFile'>,
  owner: Owner,
): Promise<NewFile> {
  const name = plainName(fileName)
  const staged = await store.stageFile(hashed(bytes, hash), owner)
  return { name, mediaType: mediaTypeOfUpload(name, mediaType), ...staged }
}

/** Passes the bytes on, and gives them to `hash`. */
export async function* hashed(bytes: AsyncIterable<Uint8Array>, hash: Hash) {
  for await (const piece of bytes) {
    hash.update(piece)
    yield piece
  }
}

/** Removes the path and control characters. */
function plainName(name = ''): string {
  const last = name.split(/[\\/]/).at(-1) ?? ''
  // This is how browsers encode a quotation mark: https://html.spec.whatwg.org/#multipart-form-data
  const printable = composed(toStorable(last))
    .replaceAll('%22', '"')
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
  return printable.slice(0, MAX_NAME).toWellFormed() || 'file'
}

function setField(fields: Map<string, string>, { name, value }: FieldPart): void {
  if (fields.has(name)) throw invalid(name, 'must be sent only once')
  fields.set(name, value)
}

function readFields(fields: ReadonlyMap<string, string>): FileFields {
  const result = FileFields.safeParse(Object.fromEntries(fields))
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw invalid(issue?.path.join('.') ?? '', issue?.message ?? 'is invalid')
}

function invalid(param: string, message: string): AppError {
  return new AppError('invalid_request', `${param}: ${message}`, { param })
}
