import { type Deadline, startDeadline } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { toStorable } from '@agent-server/lib/fields.ts'
import { JobCrashed } from '@agent-server/lib/processes/job.ts'
import { ExtractionError, type Extractor, mediaTypeOfUpload } from '@agent-server/readers'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import { type Caller, shareOf } from '@agent-server/schemas/operator/api-key.ts'
import type { Documents } from './ingestion/documents.ts'

/** What a request may bring in all its messages, and how long reading it may take, with waiting for its turn. */
const MAX_FILES = 20
const MAX_CHARACTERS = 400_000
const READING_MS = 60_000

interface NewFile {
  field: string
  name: string
  mediaType?: string | undefined
  content: Buffer | string
}

interface StoredFile {
  field: string
  documentId: string
}

interface Dependencies {
  extractor: Pick<Extractor, 'extract'>
  corpusFor: (caller: Caller) => { documents: Pick<Documents, 'get' | 'awaitCompletion' | 'text'> }
}

/**
 * Reads files that come with a question, with the caller's share of the readers, and documents that it names. Of a long
 * text, the beginning is read. Throws AppError `invalid_request` for what cannot be read, and the reason of the signal.
 */
export function createAttachedFiles({ extractor, corpusFor }: Dependencies) {
  return async (files: readonly (NewFile | StoredFile)[], caller: Caller, signal: AbortSignal) => {
    const excess = files[MAX_FILES]
    if (excess) throw refusal(excess.field, `is one of more than ${MAX_FILES} files`)
    using deadline = startDeadline(READING_MS, signal)
    let room = MAX_CHARACTERS
    const texts: { name: string; text: string }[] = []
    for (const [index, file] of files.entries()) {
      // What a short file leaves is for those after it.
      const limit = Math.floor(room / (files.length - index))
      const from = { caller, limit, deadline, signal }
      const { name, text, length } =
        'documentId' in file
          ? await documentText(corpusFor(caller).documents, file, from)
          : { name: file.name, ...(await textOf(extractor, file, from)) }
      room -= text.length
      texts.push({ name, text: toStorable(withCut(text, length)) })
    }
    return texts
  }
}

interface Reading {
  caller: Caller
  /** UTF-16 code units. */
  limit: number
  deadline: Deadline
  signal: AbortSignal
}

/** The beginning of a document's text; one that has just been uploaded is waited for. */
async function documentText(
  documents: ReturnType<Dependencies['corpusFor']>['documents'],
  { field, documentId }: StoredFile,
  { limit, deadline, signal }: Reading,
) {
  const wait = { seconds: READING_MS / 1_000, goal: 'ready' as const }
  try {
    const document = await documents.get(documentId)
    await documents.awaitCompletion(document, wait, deadline.signal)
    const { title, text, length } = await documents.text(
      documentId,
      { start: 0, end: limit },
      deadline.signal,
    )
    return { name: [title, documentId].filter(Boolean).join(' '), text, length }
  } catch (error) {
    signal.throwIfAborted()
    if (deadline.signal.aborted) throw refusal(field, TOO_SLOW)
    if (error instanceof AppError && UNREADABLE.includes(error.code))
      throw refusal(field, `cannot be read: ${error.message}`)
    throw error
  }
}

/** The beginning of a file's text, and the length of the whole. */
async function textOf({ extract }: Pick<Extractor, 'extract'>, file: NewFile, from: Reading) {
  const { field, name, content } = file
  const { caller, limit, deadline, signal } = from
  if (typeof content === 'string') return { text: content.slice(0, limit), length: content.length }
  const mediaType = mediaTypeOfUpload(name, file.mediaType)
  const open = async () => bytesOf(content)
  const unread = { name, mediaType, size: content.length }
  try {
    const read = await extract(unread, { open, owner: shareOf(caller) }, deadline.signal)
    using _ = { [Symbol.dispose]: read.close }
    let text = ''
    for await (const piece of read.pieces) {
      text += piece.slice(0, limit - text.length)
      if (text.length >= limit) break
    }
    if (text.trim() === '') throw refusal(field, 'has no text that can be read')
    return { text, length: read.length }
  } catch (error) {
    signal.throwIfAborted()
    if (deadline.signal.aborted) throw refusal(field, TOO_SLOW)
    if (error instanceof ExtractionError) throw refusal(field, `cannot be read: ${error.message}`)
    if (error instanceof JobCrashed) throw refusal(field, 'cannot be read: it is damaged')
    throw error
  }
}

const UNREADABLE = ['document_not_found', 'document_not_ready']
const TOO_SLOW = `takes longer than ${READING_MS / 1_000} s to read: add it to the documents instead`

async function* bytesOf(content: Buffer) {
  yield content
}

function withCut(text: string, length: number): string {
  if (text.length >= length) return text
  return `${text.toWellFormed()}\n[cut: these are the first ${text.length} of ${length} characters]`
}
