import { setPriority } from 'node:os'
import { endWithParent } from '../../lib/processes/job.ts'
import { MAX_WHOLE_CHARACTERS, segmentsOf } from '../../lib/text/segments.ts'
import type { DocumentWarning } from '../../schemas/document.ts'
import { extractFile } from './extract-file.ts'
import {
  ExtractionError,
  type FromReader,
  type OcrEngine,
  type Recognition,
  type SourceFile,
  type ToReader,
} from './extracted.ts'

// The entry point of a separate process, so that a file can take no more memory or time than it is
// allowed. It does not use src/lib/processes/job-process.ts, since it reads many files, and neither
// a file nor its text fits one message.

const MAX_CAUSE = 4_096
/** The maximum number of pages that a warning names. */
const MAX_NAMED = 100
/** The time limit for recognising all pages of a file. */
const MAX_RECOGNITION_MS = 2 * 3_600_000
/** The niceness while recognising: under load less than half the processor time of a query, but always some. */
const NICE = 4
endWithParent()
let file: (SourceFile & { filled: number; ocr?: OcrEngine | undefined }) | undefined
/** What is still to be sent of a long text. */
let pieces: Iterator<string> | undefined

process.on('message', (message: ToReader) => {
  if (message.kind === 'begin') {
    const { kind: _kind, size, ...begun } = message
    file = { ...begun, bytes: Buffer.allocUnsafeSlow(size), filled: 0 }
  } else if (message.kind === 'piece') {
    if (!file) return
    file.bytes.set(message.bytes, file.filled)
    file.filled += message.bytes.length
  } else if (message.kind === 'more') {
    const next = pieces?.next()
    answer({ kind: 'piece', text: next?.done === false ? next.value : '' })
  } else void finish()
})

async function finish(): Promise<void> {
  if (!file) return
  const { name, mediaType, bytes, ocr } = file
  file = undefined
  try {
    const unreadable: string[] = []
    const seen = recognition(ocr, (what) => unreadable.push(what))
    const extracted = await extractFile({ name, mediaType, bytes }, seen)
    const warnings = [...(extracted.warnings ?? []), ...warningsOf(unreadable)]
    const { length } = extracted.text
    const isShort = length <= MAX_WHOLE_CHARACTERS
    if (!isShort) pieces = segmentsOf(extracted.text)
    const text = isShort ? extracted.text : undefined
    answer({ kind: 'extracted', ...extracted, text, length, warnings })
  } catch (error) {
    if (!(error instanceof ExtractionError)) throw error
    const { code, message, cause } = error
    const stack = cause instanceof Error ? (cause.stack ?? cause.message) : undefined
    answer({ kind: 'refused', code, message, cause: stack?.slice(0, MAX_CAUSE) })
  }
}

/** Reports each page to the server, which then restarts the deadline. Undefined if recognition is off. */
function recognition(
  engine: OcrEngine | undefined,
  onUnreadable: Recognition['onUnreadable'],
): Recognition | undefined {
  if (!engine) return undefined
  const started = performance.now()
  let page = 0
  const onPage = () => {
    if (page === 0) setPriority(NICE)
    answer({ kind: 'page', page: ++page })
    if (performance.now() - started < MAX_RECOGNITION_MS) return
    throw new ExtractionError('extraction_timeout', 'Recognising the text took too long')
  }
  return { engine, onPage, onUnreadable }
}

function warningsOf(unreadable: readonly string[]): DocumentWarning[] {
  if (unreadable.length === 0) return []
  const more = unreadable.length - MAX_NAMED
  const named = `${unreadable.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  const message = `Could not be read, and was left out: ${named}`
  return [{ code: 'unreadable_pictures', message }]
}

function answer(message: FromReader): void {
  process.send?.(message)
}
