import { setPriority } from 'node:os'
import { endWithParent } from '@agent-server/lib/processes/job.ts'
import { MAX_WHOLE_CHARACTERS, segmentsOf } from '@agent-server/lib/text/segments.ts'
import { extractFile } from './extract-file.ts'
import {
  ExtractionError,
  type FromReader,
  type OcrEngine,
  type ReadingOptions,
  type Recognition,
  type SourceFile,
  type ToReader,
  warningOf,
} from './extracted.ts'
import { createPictureMarks, createPictureSearch, MAX_PICTURES } from './pictures.ts'

// The entry point of a separate process, so that a file can take no more memory or time than it is
// allowed. It does not use packages/lib/src/processes/job-process.ts, since it reads many files, and neither
// a file nor its text fits one message.

const MAX_CAUSE = 4_096
/** The time limit for recognising all pages of a file. */
const MAX_RECOGNITION_MS = 2 * 3_600_000
/** The niceness while recognising: under load less than half the processor time of a query, but always some. */
const NICE = 4
endWithParent()
let file: (SourceFile & ReadingOptions & { received: number }) | undefined
/** The rest of a long text, still to be sent. */
let pieces: Iterator<string> | undefined

process.on('message', (message: ToReader) => {
  if (message.kind === 'begin') {
    const { kind: _kind, size, ...properties } = message
    file = { ...properties, bytes: Buffer.allocUnsafeSlow(size), received: 0 }
  } else if (message.kind === 'piece') {
    if (!file) return
    file.bytes.set(message.bytes, file.received)
    file.received += message.bytes.length
  } else if (message.kind === 'more') {
    const next = pieces?.next()
    answer({ kind: 'piece', text: next?.done === false ? next.value : '' })
  } else void finish()
})

async function finish(): Promise<void> {
  if (!file) return
  const { name, mediaType, bytes, ocr, pictures } = file
  file = undefined
  const source = { name, mediaType, bytes }
  try {
    if (Array.isArray(pictures)) {
      await findPictures(source, pictures)
      answer({ kind: 'extracted', text: '', length: 0, warnings: [] })
      return
    }
    const unreadable: string[] = []
    const omitted: string[] = []
    const doubtful = new Set<string>()
    const recognition = createRecognition(ocr, {
      onUnreadable: (what) => unreadable.push(what),
      onDoubtful: (what) => doubtful.add(what),
    })
    const marks = pictures ? createPictureMarks((mark) => omitted.push(mark)) : undefined
    const extracted = await extractFile(source, recognition, marks)
    const warnings = [
      ...(extracted.warnings ?? []),
      ...warningOf('unreadable_pictures', 'Could not be read, and was left out', unreadable),
      ...warningOf('doubtful_recognition', doubtOf(ocr), [...doubtful]),
      ...warningOf('pictures_not_described', NOT_DESCRIBED, omitted),
    ]
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

/** The warning for words that are probably wrong. */
function doubtOf(ocr: OcrEngine | undefined): string {
  const languages = ocr?.kind === 'tesseract' ? ocr.languages.join('+') : ''
  return `Many words are probably wrong, as they would be in another language than OCR_LANGUAGES=${languages}, or in a photograph, for which OCR=pp-ocr is better`
}

const NOT_DESCRIBED = `Too large to be described, or beyond the first ${MAX_PICTURES}`

/** Answers with each of these pictures. */
async function findPictures(source: SourceFile, marks: readonly string[]): Promise<void> {
  const search = createPictureSearch(marks, (picture) => answer({ kind: 'picture', ...picture }))
  try {
    await extractFile(source, undefined, search)
  } catch (error) {
    // A file of pictures alone has no text.
    if (!(error instanceof ExtractionError && error.code === 'empty_document')) throw error
  }
}

/** Reports each page to the server, which then restarts the deadline. Undefined if recognition is off. */
function createRecognition(
  engine: OcrEngine | undefined,
  report: Pick<Recognition, 'onUnreadable' | 'onDoubtful'>,
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
  return { engine, onPage, ...report }
}

function answer(message: FromReader): void {
  process.send?.(message)
}
