import { pause } from '@agent-server/lib/abort.ts'
import { createBudget } from '@agent-server/lib/budget.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { whyTooComplex } from '@agent-server/lib/text/json.ts'
import { type Line, readLines } from '@agent-server/lib/text/lines.ts'
import type { DocumentCreated } from '@agent-server/schemas/document.ts'
import { DocumentLine, LINES, type LineResult } from '@agent-server/schemas/document-batch.ts'
import { refusal, refusalOf } from '@agent-server/schemas/invalid-request.ts'
import type { Documents } from './documents.ts'

/** The most lines being stored at the same time; they share the wait for the disk. */
const MAX_LINES_UNDER_WAY = 64
/** The most bytes of these lines; the last line may exceed it. */
const MAX_BYTES_UNDER_WAY = 16 * 2 ** 20
const MIN_LINE_WEIGHT = MAX_BYTES_UNDER_WAY / MAX_LINES_UNDER_WAY
const POLL_MS = 200

interface Dependencies {
  documents: Pick<Documents, 'create' | 'put'>
  log: Pick<Log, 'error'>
  /** How long lines wait for room in a queue that stays full. */
  maxWaitMs?: number
}

/** Long enough for a busy queue to move, short enough for proxies that wait for the first result. */
const MAX_WAIT_MS = 30_000

export type LineIngestion = ReturnType<typeof createLineIngestion>

/** Stores a stream of documents, one JSON object per line. */
export function createLineIngestion({ documents, log, maxWaitMs = MAX_WAIT_MS }: Dependencies) {
  const store = async (bytes: Buffer) => {
    const { id, idempotencyKey, ...input } = parseLine(bytes)
    return id === undefined ? documents.create(input, idempotencyKey) : documents.put(id, input)
  }

  return {
    /**
     * Answers every non-blank line, in order, as soon as it is durable or refused. Reads no faster than the document
     * store accepts documents, and waits while the queue is full. Rejects with what reading `source` throws and with
     * the reason of `signal`: what was answered by then is stored.
     */
    async run(
      source: AsyncIterable<Uint8Array>,
      answer: (result: LineResult) => void,
      signal: AbortSignal,
    ): Promise<void> {
      const storeOnceThereIsRoom = createWaiting(maxWaitMs)
      const take = async ({ number: line, bytes }: Line): Promise<LineResult> => {
        try {
          if (!bytes) throw tooLong()
          return { line, ...(await storeOnceThereIsRoom(() => store(bytes), signal)) }
        } catch (error) {
          signal.throwIfAborted()
          if (!(error instanceof AppError)) log.error({ err: error, line }, 'storing a line failed')
          return { line, error: toShown(error) }
        }
      }
      await inOrder(boundedLines(source), take, answer, signal)
    },
  }
}

/** Processes lines concurrently, answers them in order, and applies back-pressure to the source. */
async function inOrder(
  lines: AsyncIterable<Line>,
  take: (line: Line) => Promise<LineResult>,
  answer: (result: LineResult) => void,
  signal: AbortSignal,
): Promise<void> {
  const budget = createBudget(MAX_BYTES_UNDER_WAY)
  const failed = new AbortController()
  const closing = AbortSignal.any([signal, failed.signal])
  let last: Promise<void> = Promise.resolve()

  const begin = (line: Line) => {
    const release = budget.hold(Math.max(MIN_LINE_WEIGHT, line.bytes?.length ?? 0))
    last = Promise.all([take(line), last]).then(([result]) => answer(result))
    last.catch((error: unknown) => failed.abort(error)).finally(release)
  }

  try {
    for await (const line of lines) {
      signal.throwIfAborted()
      if (line.bytes?.toString().trim() === '') continue
      await budget.room(closing)
      begin(line)
    }
  } finally {
    // Lines in flight get stored, so they must be answered, even if reading failed.
    await Promise.allSettled([last])
  }
  await last
}

/** Yields lines up to the limits of a request; the rest is read and gets a single answer. */
async function* boundedLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let total = 0
  const linesInBounds = async function* () {
    for await (const part of source) {
      total += part.length
      yield part
    }
  }
  let isOver = false
  for await (const line of readLines(linesInBounds(), LINES.bytes)) {
    if (isOver) continue
    isOver = line.number > LINES.count || total > LINES.totalBytes
    yield isOver ? { number: line.number, bytes: undefined } : line
  }
}

/** Retries while the queue is full, as long as some line was stored within the last `maxWaitMs`. */
function createWaiting(maxWaitMs: number) {
  let lastStored = performance.now()
  return async (store: () => Promise<DocumentCreated>, signal: AbortSignal) => {
    for (;;) {
      try {
        const created = await store()
        lastStored = performance.now()
        return created
      } catch (error) {
        const isFull = error instanceof AppError && error.code === 'queue_full'
        if (!isFull || performance.now() - lastStored > maxWaitMs) throw error
      }
      await pause(POLL_MS, signal)
    }
  }
}

function parseLine(bytes: Buffer): DocumentLine {
  const refused = whyTooComplex(bytes)
  if (refused !== undefined) throw refusal('', `The line ${refused}`)
  let line: unknown
  try {
    line = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    throw new AppError('invalid_request', 'The line is not valid JSON', { cause: error })
  }
  const { data, error } = DocumentLine.safeParse(line)
  if (error) throw refusalOf(error)
  return data
}

function tooLong(): AppError {
  const { bytes, count, totalBytes } = LINES
  return new AppError(
    'body_too_large',
    `A line can have at most ${bytes} bytes, and a request at most ${count} lines and ${totalBytes} bytes: send this line and the following ones in another request, or as a file`,
  )
}

function toShown(error: unknown) {
  const { code, message, param } =
    error instanceof AppError ? error : new AppError('internal', 'Internal error')
  return { code, message, param: param ?? null }
}
