import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { PROGRAM_FILES } from '../../lib/child-process.ts'
import { freeYoungMemory } from '../../lib/free-young-memory.ts'
import type { StoredFile } from '../../stores/file-store.ts'
import {
  ExtractionError,
  type FromReader,
  lengthOf,
  ownPacked,
  type PackedText,
  type ReadText,
  type ToReader,
} from './extracted.ts'

const ENTRY = fileURLToPath(new URL('./extract-process.ts', import.meta.url))
const HEAP_MEGABYTES = 640

/** A process that reads one file after another. Whatever goes wrong in it, it is replaced and not mended. */
export interface ReadingProcess {
  /** Throws `ExtractionError`, or what `pieces` throws. One file at a time. */
  extract(file: StoredFile, pieces: AsyncIterable<Uint8Array>): Promise<ReadText>
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
  const ready = answers.last()
  ready.catch(() => undefined)

  return {
    async extract(file, pieces) {
      await ready
      const texts: ReadText['pieces'] = []
      const answer = answers.last((text) => {
        texts.push(ownPacked(text))
        freeYoungMemory()
      })
      // It is awaited below, but may come to its end before all was sent.
      answer.catch(() => undefined)
      await send(child, { kind: 'begin', ...file })
      for await (const bytes of pieces) await send(child, { kind: 'piece', bytes })
      await send(child, { kind: 'end' })
      return toReadText(await answer, texts)
    },
    isAlive: () => child.connected,
    kill() {
      child.kill('SIGKILL')
    },
  }
}

type LastAnswer = Exclude<FromReader, { kind: 'text' }>

function createAnswers(child: ChildProcess) {
  let waiting: PromiseWithResolvers<LastAnswer> | undefined
  let takeText: (text: PackedText) => void = () => undefined
  let ended: Error | undefined
  const end = (error: Error) => {
    ended ??= error
    waiting?.reject(ended)
  }
  child.on('message', (message: FromReader) => {
    if (message.kind === 'text') takeText(message.text)
    else waiting?.resolve(message)
  })
  child.on('error', (error) => end(error))
  child.on('exit', () =>
    end(new ExtractionError('file_too_complex', 'Reading the file took too much memory')),
  )
  return {
    /** The answer after which nothing comes; `onText` is given the text that comes before it. */
    last(onText: (text: PackedText) => void = () => undefined): Promise<LastAnswer> {
      waiting = Promise.withResolvers()
      takeText = onText
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

function toReadText(answer: LastAnswer, pieces: ReadText['pieces']): ReadText {
  if (answer.kind === 'refused') throw new ExtractionError(answer.code, answer.message)
  if (answer.kind === 'ready') throw new Error('The reading process answered out of turn')
  const { pageStarts } = answer
  const characters = pieces.reduce((sum, piece) => sum + lengthOf(piece), 0)
  return { pieces, characters, ...(pageStarts && { pageStarts }) }
}
