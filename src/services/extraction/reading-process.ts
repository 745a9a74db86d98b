import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { PROGRAM_FILES } from '../../lib/program-files.ts'
import type { StoredFile } from '../../stores/file-store.ts'
import type { Extracted } from './extracted.ts'
import { ExtractionError } from './extraction-error.ts'
import type { FromReader, ToReader } from './extraction-protocol.ts'

const ENTRY = fileURLToPath(new URL('./extract-process.ts', import.meta.url))
const HEAP_MEGABYTES = 640

/** A process that reads one file after another. Whatever goes wrong in it, it is replaced and not mended. */
export interface ReadingProcess {
  /** Throws `ExtractionError`, or what `pieces` throws. One file at a time. */
  extract(file: StoredFile, pieces: AsyncIterable<Uint8Array>): Promise<Extracted>
  /** Whether it can take another file. */
  isAlive(): boolean
  kill(): void
}

/** It gets no secrets, no network, no other process and no file but its own program. */
export function startReadingProcess(): ReadingProcess {
  const child = fork(ENTRY, [], {
    execArgv: [
      `--max-old-space-size=${HEAP_MEGABYTES}`,
      '--permission',
      ...PROGRAM_FILES.map((path) => `--allow-fs-read=${path}`),
      '--allow-worker',
      '--no-warnings',
    ],
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const answers = createAnswers(child)
  // Nobody waits for it yet where it fails at once.
  const ready = answers.next()
  ready.catch(() => undefined)

  return {
    async extract(file, pieces) {
      await ready
      const answer = answers.next()
      // It is awaited below, but may come to its end before all was sent.
      answer.catch(() => undefined)
      await send(child, { kind: 'begin', ...file })
      for await (const bytes of pieces) await send(child, { kind: 'piece', bytes })
      await send(child, { kind: 'end' })
      return toExtracted(await answer)
    },
    isAlive: () => child.connected,
    kill() {
      child.kill('SIGKILL')
    },
  }
}

function createAnswers(child: ChildProcess) {
  let waiting: PromiseWithResolvers<FromReader> | undefined
  let ended: Error | undefined
  const end = (error: Error) => {
    ended ??= error
    waiting?.reject(ended)
  }
  child.on('message', (message: FromReader) => waiting?.resolve(message))
  child.on('error', (error) => end(error))
  child.on('exit', () =>
    end(new ExtractionError('file_too_complex', 'Reading the file took too much memory')),
  )
  return {
    next(): Promise<FromReader> {
      waiting = Promise.withResolvers()
      if (ended) waiting.reject(ended)
      return waiting.promise
    },
  }
}

/** Resolves once the other side has room for more. What it cannot take any more shows in its missing answer. */
function send(child: ChildProcess, message: ToReader): Promise<void> {
  return new Promise((resolve) => {
    if (child.connected) child.send(message, () => resolve())
    else resolve()
  })
}

function toExtracted(answer: FromReader): Extracted {
  if (answer.kind === 'refused') throw new ExtractionError(answer.code, answer.message)
  if (answer.kind === 'extracted') {
    const { text, pageStarts } = answer
    return { text, ...(pageStarts && { pageStarts }) }
  }
  throw new Error('The reading process answered out of turn')
}
