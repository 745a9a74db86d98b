import { hash } from 'node:crypto'
import { createBudget } from '@agent-server/lib/budget.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { DocumentCreated } from '@agent-server/schemas/document.ts'
import { type DocumentBatchResult, FILES } from '@agent-server/schemas/document-batch.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import {
  type FieldPart,
  type FilePart,
  type FormPart,
  IdempotencyKey,
} from '@agent-server/schemas/new-document.ts'
import { resultsOf } from './documents.ts'

/** The most bytes of files being stored at the same time; the last file may exceed it. */
const MAX_BYTES_UNDER_WAY = 4_000_000
/** Small files cost a transaction all the same. */
const MIN_FILE_WEIGHT = MAX_BYTES_UNDER_WAY / 16

type Create = (parts: AsyncIterable<FormPart>, idempotencyKey?: string) => Promise<DocumentCreated>

/**
 * Creates a document of each file of a form, with the fields before it. Files are stored in parallel and fail by
 * themselves; throws what reading the form throws, the reason of `signal`, and the first failure if all fail.
 */
export async function createEach(
  parts: AsyncIterable<FormPart>,
  { create, maxFileBytes }: { create: Create; maxFileBytes: number },
  signal: AbortSignal,
): Promise<DocumentBatchResult> {
  const budget = createBudget(MAX_BYTES_UNDER_WAY)
  const stored: Promise<DocumentCreated>[] = []
  const afterTwin = oneByOneOfEqual()
  let fields: FieldPart[] = []
  const withinBound = boundFields()
  let total = 0
  try {
    for await (const part of parts) {
      if (part.kind === 'field') {
        fields.push(withinBound(part))
        continue
      }
      if (stored.length === FILES.count) {
        throw refusal('file', `must be sent at most ${FILES.count} times`)
      }
      if (total > FILES.totalBytes) throw tooMuch('files', 'file')
      // While a file waits to be read, so does what was sent after it.
      await budget.room(signal)
      const piece = await readWhole(part.bytes, Math.min(maxFileBytes, FILES.bytes))
      const size = piece?.length ?? 0
      total += size
      const release = budget.hold(Math.max(MIN_FILE_WEIGHT, size))
      const ownFields = fields
      const document = afterTwin(piece, () => createOne(create, ownFields, { part, piece }))
      stored.push(document)
      document.then(release, release)
      fields = []
    }
  } finally {
    // What has begun gets stored, even if reading failed.
    await Promise.allSettled(stored)
  }
  const [left] = fields
  if (left) throw refusal(left.name, 'must stand before the file that it belongs to')
  if (stored.length === 0) throw refusal('file', 'is required: a form field for each file')
  return resultsOf(stored)
}

/** Returns each field, or throws once all together are too large. */
function boundFields() {
  let bytes = 0
  return (field: FieldPart): FieldPart => {
    bytes += Buffer.byteLength(field.value)
    if (bytes > FILES.fieldBytes) throw tooMuch('fields', field.name)
    return field
  }
}

/** Runs work of equal bytes one after the other, so that the later one finds the earlier one stored. */
function oneByOneOfEqual() {
  const last = new Map<string, Promise<unknown>>()
  return (piece: Uint8Array | undefined, work: () => Promise<DocumentCreated>) => {
    const digest = piece ? hash('sha256', piece) : ''
    const before = last.get(digest) ?? Promise.resolve()
    const result = before.then(work, work)
    last.set(digest, result)
    return result
  }
}

interface ReadFile {
  part: FilePart
  /** Absent if it is too large. */
  piece: Uint8Array | undefined
}

async function createOne(create: Create, fields: readonly FieldPart[], { part, piece }: ReadFile) {
  if (!piece) {
    const message = 'The file is too large to be sent with others: send it by itself'
    throw new AppError('body_too_large', message, { param: 'file' })
  }
  const key = fields.find(({ name }) => name === KEY)?.value
  const { error } = IdempotencyKey.optional().safeParse(key)
  if (error) throw refusal(KEY, error.issues[0]?.message ?? 'is invalid')
  async function* form(): AsyncGenerator<FormPart> {
    yield* fields.filter(({ name }) => name !== KEY)
    yield { ...part, bytes: one(piece ?? new Uint8Array()) }
  }
  return create(form(), key)
}

function tooMuch(what: 'files' | 'fields', param: string): AppError {
  const most = what === 'files' ? FILES.totalBytes : FILES.fieldBytes
  return new AppError('body_too_large', `The ${what} together are larger than ${most} bytes`, {
    param,
  })
}

const KEY = 'idempotencyKey'

async function* one(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield piece
}

/** All bytes, or undefined if there are more than `max`; they are read to the end all the same. */
async function readWhole(
  bytes: AsyncIterable<Uint8Array>,
  max: number,
): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of bytes) {
    size += piece.length
    if (size <= max) pieces.push(piece)
  }
  return size <= max ? Buffer.concat(pieces) : undefined
}
