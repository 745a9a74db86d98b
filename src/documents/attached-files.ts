import { type Deadline, startDeadline } from '@agent-server/lib/abort.ts'
import { toStorable } from '@agent-server/lib/fields.ts'
import { JobCrashed } from '@agent-server/lib/processes/job.ts'
import { ExtractionError, type Extractor, mediaTypeOfUpload } from '@agent-server/readers'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import { type Caller, shareOf } from '@agent-server/schemas/operator/api-key.ts'

/** What a request may bring in all its messages, and how long reading it may take, with waiting for its turn. */
const MAX_FILES = 20
const MAX_CHARACTERS = 400_000
const READING_MS = 60_000

interface AttachedFile {
  field: string
  name: string
  mediaType?: string | undefined
  content: Buffer | string
}

interface Dependencies {
  extractor: Pick<Extractor, 'extract'>
}

/**
 * Reads files that come with a question and are not kept, with the caller's share of the readers. Of a long text, the
 * beginning is read. Throws AppError `invalid_request` for what cannot be read, and the reason of the signal.
 */
export function createAttachedFiles({ extractor }: Dependencies) {
  return async (files: readonly AttachedFile[], caller: Caller, signal: AbortSignal) => {
    const excess = files[MAX_FILES]
    if (excess) throw refusal(excess.field, `is one of more than ${MAX_FILES} files`)
    using deadline = startDeadline(READING_MS, signal)
    let room = MAX_CHARACTERS
    const texts: { name: string; text: string }[] = []
    for (const [index, file] of files.entries()) {
      // What a short file leaves is for those after it.
      const limit = Math.floor(room / (files.length - index))
      const { text, length } = await textOf(extractor, file, { caller, limit, deadline, signal })
      room -= text.length
      texts.push({ name: file.name, text: toStorable(withCut(text, length)) })
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

/** The beginning of a file's text, and the length of the whole. */
async function textOf({ extract }: Pick<Extractor, 'extract'>, file: AttachedFile, from: Reading) {
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

const TOO_SLOW = `takes longer than ${READING_MS / 1_000} s to read: add it to the documents instead`

async function* bytesOf(content: Buffer) {
  yield content
}

function withCut(text: string, length: number): string {
  if (text.length >= length) return text
  return `${text.toWellFormed()}\n[cut: these are the first ${text.length} of ${length} characters]`
}
