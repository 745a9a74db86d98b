import { type Deadline, startDeadline, untilAborted } from '@agent-server/lib/abort.ts'
import { createLimiter, type Owner } from '@agent-server/lib/limiter.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { createNextAnswer } from '@agent-server/lib/next-answer.ts'
import { type ProcessLimits, startProcess } from '@agent-server/lib/processes/child-process.ts'
import { JobCrashed, JobExhausted } from '@agent-server/lib/processes/job.ts'
import {
  ExtractionError,
  type FromReader,
  type OcrEngine,
  type ReadingOptions,
  type ReadText,
  type ToReader,
  type UnreadFile,
} from './extracted.ts'
import type { PictureFile } from './pictures.ts'
import { startProcessorLimit } from './processor-limit.ts'

export const EXTRACT_ENTRY = new URL('./extract-process.ts', import.meta.url)
/** What one file may use beyond the memory that the process already held. */
export const READING = { heapMegabytes: 640, residentMegabytes: 768 }
/** What a picture may use beyond that: one of `MAX_PIXELS` in colours takes 1.5 GB while it is recognised. */
const PICTURE_MEGABYTES = 1_024
/** What PP-OCR may use beyond that for the pages of a document: it takes 0.6 GB for a page. */
const PP_OCR_MEGABYTES = 512
/** The file and one copy of it, which a process may hold in addition to its limit. */
const FILE_COPIES = 2
/** A process that holds more than this after a file is not reused. */
const MAX_KEPT_MEGABYTES = 256
const BYTES_PER_MEGABYTE = 2 ** 20
/** A process that has been idle for this long is ended, because its parsers keep memory. */
const IDLE_MS = 60_000

/** Has no more readers than a key. */
const OPERATOR = 'the operator'

export interface ExtractorOptions {
  /** How many files of one key are read concurrently, each in a process of its own. */
  processes: number
  /** The time allowed for a file, and then again for each of its pages that is an image. */
  deadlineMs: number
  /** The processor time for a file, besides that for its size and its pages that are images. */
  processorMs?: number
  /** The limits for one file, not counting the file itself and one copy of it. */
  limits?: ProcessLimits
  /** What recognises text in images; absent if recognition is off. */
  ocr?: OcrEngine | undefined
  /** Whether pictures are marked in the text, to be described. */
  marksPictures?: boolean
  log?: Pick<Log, 'warn'>
}

export type Extractor = ReturnType<typeof createExtractor>

/** Reads files in separate processes, which are replaced when a file is too much for one. */
export function createExtractor(options: ExtractorOptions) {
  const { processes, deadlineMs, processorMs, limits = READING, ocr, marksPictures, log } = options
  const closing = new AbortController()
  // One key alone has `processes` of them; the rest is started for others who would wait for it.
  const turns = createLimiter({ name: 'readers of files', capacity: 2 * processes - 1, reserve: 0 })
  const readers = createReaders(limits, ppOcrOf(ocr) ?? [])

  async function read(file: UnreadFile, source: FileSource, signal: AbortSignal) {
    const idle = readers.takeIdle()
    try {
      if (idle) return { reader: idle, answer: await readIn(idle, file, source, signal) }
    } catch (error) {
      // What earlier files left behind in the process may be the cause, so a new one gets a try.
      if (!(error instanceof JobCrashed || isOutOfMemory(error))) throw error
    }
    const reader = readers.start()
    return { reader, answer: await readIn(reader, file, source, signal) }
  }

  async function readIn(reader: Reader, file: UnreadFile, source: FileSource, signal: AbortSignal) {
    const { open, onPage, marks, onPicture } = source
    const options = marks ? { pictures: marks } : { ocr, pictures: marksPictures }
    using processor = startProcessorLimit(file.size, reader.processorMs, processorMs)
    using deadline = startDeadline(deadlineMs, signal, processor.signal)
    const renewing = (page: number) => {
      deadline.renew()
      processor.addPage()
      onPage?.(page)
    }
    const progress = { onPage: renewing, onPicture }
    const reading = open().then((bytes) => reader.read({ ...file, ...options }, bytes, progress))
    const answer = await orDropped(reading, { reader, file, deadline, signal })
    if (answer.kind === 'refused' || answer.text !== undefined) readers.giveBack(reader)
    return answer
  }

  /** The pieces of a long text, from the process that read it, which is not used again. */
  async function* piecesFrom(reader: Reader, file: UnreadFile, signal: AbortSignal) {
    for (;;) {
      using deadline = startDeadline(deadlineMs, signal)
      const piece = await orDropped(reader.more(), { reader, file, deadline, signal })
      if (piece === '') return
      yield piece
    }
  }

  /** Drops the process unless it answers. */
  async function orDropped<Answer>(answer: Promise<Answer>, call: ReaderCall): Promise<Answer> {
    const { reader, file, deadline, signal } = call
    try {
      return await untilAborted(answer, deadline.signal)
    } catch (error) {
      readers.drop(reader)
      signal.throwIfAborted()
      const { mediaType, size } = file
      log?.warn({ err: error, mediaType, size }, 'replacing the file extraction process')
      if (error === deadline.signal.reason && !(error instanceof ExtractionError)) {
        throw new ExtractionError('extraction_timeout', 'Reading the file took too long')
      }
      if (!(error instanceof JobExhausted)) throw error
      throw new ExtractionError('file_too_complex', `Reading the file ${error.message}`, error)
    }
  }

  /**
   * Extracts the text of a file; `open` is called a second time if a reused process does not survive the file. Waits
   * for its turn. A long text is held by the process until it is closed. Throws `ExtractionError`, `JobCrashed`, what
   * `open` throws, and the reason of the signal, which stops the reading at once.
   */
  async function extract(
    file: UnreadFile,
    source: FileSource,
    signal: AbortSignal,
  ): Promise<ReadText> {
    const stop = AbortSignal.any([signal, closing.signal])
    const { reader, answer } = await turns.run(
      source.owner ?? OPERATOR,
      () => read(file, source, stop),
      stop,
    )
    if (answer.kind === 'refused') {
      const { code, message, cause } = answer
      const { mediaType, size } = file
      if (cause) log?.warn({ code, cause, mediaType, size }, 'extracting a file failed')
      throw new ExtractionError(code, message)
    }
    const { kind: _kind, text, ...properties } = answer
    if (text !== undefined) return { ...properties, pieces: [text], close: () => undefined }
    const pieces = piecesFrom(reader, file, stop)
    return { ...properties, pieces, close: () => readers.drop(reader) }
  }

  return {
    extract,
    pictures: (...parameters: PictureParameters) => findPictures(extract, ...parameters),
    close() {
      closing.abort(new Error('The server stops'))
      readers.close()
    },
  }
}

type PictureParameters = [
  file: UnreadFile,
  source: Pick<FileSource, 'open' | 'owner'> & { marks: readonly string[] },
  signal: AbortSignal,
]

/** The pictures of a file that have these marks, by mark, as far as they can be read. Throws like `extract`. */
async function findPictures(
  extract: (file: UnreadFile, source: FileSource, signal: AbortSignal) => Promise<ReadText>,
  ...[file, source, signal]: PictureParameters
): Promise<ReadonlyMap<string, PictureFile>> {
  const pictures = new Map<string, PictureFile>()
  const onPicture = (picture: PictureFile) => {
    if (source.marks.includes(picture.mark)) pictures.set(picture.mark, picture)
  }
  const text = await extract(file, { ...source, onPicture }, signal)
  text.close()
  return pictures
}

interface ReaderCall {
  reader: Reader
  file: UnreadFile
  deadline: Deadline
  signal: AbortSignal
}

interface FileSource {
  /** Opens the bytes of the file from the beginning. */
  open: () => Promise<AsyncIterable<Uint8Array>>
  /** Whose file it is. */
  owner: Owner
  onPage?: OnPage
  /** The marks of the pictures to read instead of the text. */
  marks?: readonly string[]
  onPicture?: OnPicture
}

/** Called before each page that is recognised, with its number among such pages. Must not throw. */
type OnPage = (page: number) => void
type OnPicture = (picture: PictureFile) => void

/** Whether the process ran out of memory; a file that the process refused as too complex has no such cause. */
const isOutOfMemory = (error: unknown) =>
  error instanceof ExtractionError && error.cause instanceof JobExhausted

/** The reading processes; idle ones are kept for a while. */
function createReaders(limits: ProcessLimits, readable: readonly string[]) {
  const idle: Reader[] = []
  const all = new Set<Reader>()
  let idleTimer: NodeJS.Timeout | undefined

  const drop = (reader: Reader) => {
    all.delete(reader)
    reader.kill()
  }
  const takeIdle = (): Reader | undefined => {
    const reader = idle.pop()
    if (!reader || reader.isAlive()) return reader
    drop(reader)
    return takeIdle()
  }
  return {
    takeIdle,
    drop,
    start() {
      const reader = startReader(limits, readable)
      all.add(reader)
      return reader
    },
    giveBack(reader: Reader) {
      if (reader.memory.bytes() > MAX_KEPT_MEGABYTES * BYTES_PER_MEGABYTE) return drop(reader)
      idle.push(reader)
      clearTimeout(idleTimer)
      idleTimer = setTimeout(() => idle.splice(0).forEach(drop), IDLE_MS).unref()
    },
    close() {
      clearTimeout(idleTimer)
      for (const reader of all) drop(reader)
    },
  }
}

type Reader = ReturnType<typeof startReader>
type ReadAnswer = Exclude<FromReader, { kind: 'page' | 'piece' | 'picture' }>
type ReadRequest = UnreadFile & ReadingOptions
interface Progress {
  onPage: OnPage
  onPicture: OnPicture | undefined
}

function extraMegabytes({ mediaType, ocr }: ReadRequest): number {
  if (mediaType.startsWith('image/')) return PICTURE_MEGABYTES
  return ppOcrOf(ocr) ? PP_OCR_MEGABYTES : 0
}

/** The directory of PP-OCR, if it may be used. */
function ppOcrOf(ocr: OcrEngine | undefined): [string] | undefined {
  const directory = ocr?.kind === 'pp-ocr' ? ocr.directory : ocr?.ppOcr
  return directory === undefined ? undefined : [directory]
}

/** A process that reads one file after another. Whatever goes wrong in it, it is replaced, not repaired. */
function startReader(limits: ProcessLimits, readable: readonly string[]) {
  let listener: Progress | undefined
  const answers = createNextAnswer<ReadAnswer>()
  const texts = createNextAnswer<string>()
  const { send, isAlive, memory, processorMs, kill } = startProcess<FromReader>(
    { entry: EXTRACT_ENTRY, readable },
    limits,
    {
      onMessage(message) {
        if (message.kind === 'page') listener?.onPage(message.page)
        else if (message.kind === 'picture') listener?.onPicture?.(message)
        else if (message.kind === 'piece') texts.give(message.text)
        else answers.give(message)
      },
      onEnd(error) {
        answers.end(error)
        texts.end(error)
      },
    },
  )
  const request = (message: ToReader) => send(message)

  return {
    isAlive,
    memory,
    processorMs,
    kill,
    /**
     * Reads one file at a time. Throws `JobExhausted`, `JobCrashed`, and what `pieces` throws.
     */
    async read(file: ReadRequest, pieces: AsyncIterable<Uint8Array>, progress: Progress) {
      listener = progress
      const answer = answers.next()
      const growth = (limits.residentMegabytes + extraMegabytes(file)) * BYTES_PER_MEGABYTE
      memory.bound(memory.bytes() + growth + FILE_COPIES * file.size)
      await request({ kind: 'begin', ...file })
      for await (const bytes of pieces) {
        if (!isAlive()) break
        await request({ kind: 'piece', bytes })
      }
      await request({ kind: 'end' })
      return answer
    },
    /** The next piece of a long text; '' at its end. Throws `JobExhausted` and `JobCrashed`. */
    async more(): Promise<string> {
      const piece = texts.next()
      await request({ kind: 'more' })
      return piece
    },
  }
}
