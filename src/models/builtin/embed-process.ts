import { setPriority } from 'node:os'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { readChecked } from '../../lib/checked-file.ts'
import { endWithParent } from '../../lib/processes/job.ts'
import { toUnit } from '../../lib/unit-vector.ts'
import { createTokenizer } from './word-piece.ts'

// Entry file of a separate process: keeps the runtime and the weights out of the server's memory, and a crash in native
// code does not end the server.

export interface ToEmbedding {
  text: string
  /** The model's package and the threads that work on a text: the same in each message. */
  directory: string
  threads: number
}
export type FromEmbedding = { vector: Float32Array<ArrayBuffer> } | { failure: string }

/** A nice value: on a busy machine a third of the CPU time of other processes, as questions wait for this one, too. */
const PRIORITY = 5
/** The window with which the model was published, in tokens, including `[CLS]` and `[SEP]`. */
const WINDOW = 256
/** Maximum windows per text, about eight pages; the rest is ignored. */
const MAX_WINDOWS = 16

type Model = Awaited<ReturnType<typeof load>>

endWithParent()
let model: Promise<Model> | undefined
setPriority(PRIORITY)
process.on('message', (message: ToEmbedding) => void answer(message))

async function answer(message: ToEmbedding): Promise<void> {
  try {
    model ??= load(message)
    reply({ vector: await embed(await model, message.text) })
  } catch (error) {
    reply({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}

function reply(answer: FromEmbedding): void {
  process.send?.(answer)
}

async function load({ directory, threads }: ToEmbedding) {
  const [weights, vocabulary] = await Promise.all([
    readChecked(directory, 'model.onnx'),
    readChecked(directory, 'vocab.txt'),
  ])
  const session = await InferenceSession.create(weights, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    // Idle threads must not take CPU time.
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  })
  return { session, tokenizer: createTokenizer(vocabulary.toString('utf8').trimEnd().split('\n')) }
}

/** Embeds a text. If it is longer than the window, averages the vectors of its windows, weighted by length. */
async function embed({ session, tokenizer }: Model, text: string) {
  const { begin, end, tokenize } = tokenizer
  const tokens = tokenize(text)
  const room = WINDOW - 2
  const windows = Math.min(MAX_WINDOWS, Math.max(1, Math.ceil(tokens.length / room)))
  const length = Math.min(room, Math.ceil(tokens.length / windows))
  let sum: Float32Array<ArrayBuffer> | undefined
  for (let window = 0; window < windows; window++) {
    const part = tokens.slice(window * length, (window + 1) * length)
    const vector = await run(session, [begin, ...part, end])
    sum =
      sum?.map((value, i) => value + part.length * (vector[i] ?? 0)) ??
      vector.map((value) => value * Math.max(1, part.length))
  }
  const unit = sum && toUnit(sum)
  if (!unit) throw new Error('The model gave a vector without a direction')
  return unit
}

async function run(session: InferenceSession, ids: readonly number[]): Promise<Float32Array> {
  const { length } = ids
  const { vector } = await session.run({
    ids: new Tensor('int64', BigInt64Array.from(ids, BigInt), [1, length]),
    positions: new Tensor(
      'int64',
      BigInt64Array.from(ids, (_, place) => BigInt(place)),
      [length],
    ),
  })
  if (!(vector?.data instanceof Float32Array)) throw new Error('The model returned no vector')
  return vector.data
}
