import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { endWithParent } from '../../lib/processes/job.ts'
import { toUnit } from '../../lib/unit-vector.ts'
import { createTokenizer } from './word-piece.ts'

// Entry file of a separate process: keeps the runtime and the weights out of the server's memory, and a crash in native
// code does not end the server.

export type ToEmbedding =
  | { kind: 'begin'; directory: string; threads: number; isBackground: boolean }
  | { kind: 'embed'; texts: readonly string[] }
export type FromEmbedding = { vectors: Float32Array<ArrayBuffer>[] } | { failure: string }

/** A nice value: on a busy machine about a tenth of the CPU time of other processes, so that the work still ends. */
const LOW_PRIORITY = 10
/** The window with which the model was published, in tokens, including `[CLS]` and `[SEP]`. */
const WINDOW = 256
/** Maximum windows per text, about eight pages; the rest is ignored. */
const MAX_WINDOWS = 16

type Settings = Extract<ToEmbedding, { kind: 'begin' }>
type Model = Awaited<ReturnType<typeof load>>

endWithParent()
let model: Promise<Model> | undefined
process.on('message', (message: ToEmbedding) => {
  if (message.kind === 'begin') {
    if (message.isBackground) setPriority(LOW_PRIORITY)
    model = load(message)
    model.catch(() => undefined)
  } else void answer(message.texts)
})

async function answer(texts: readonly string[]): Promise<void> {
  try {
    if (!model) throw new Error('There is no model yet')
    const loaded = await model
    const vectors: Float32Array<ArrayBuffer>[] = []
    for (const text of texts) vectors.push(await embed(loaded, text))
    reply({ vectors })
  } catch (error) {
    reply({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}

function reply(answer: FromEmbedding): void {
  process.send?.(answer)
}

async function load({ directory, threads }: Settings) {
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

/** Reads a file; throws an Error if it does not match its checksum in the package. */
async function readChecked(directory: string, name: string): Promise<Buffer> {
  const [bytes, sums] = await Promise.all([
    readFile(join(directory, name)),
    readFile(join(directory, 'SHA256SUMS'), 'utf8'),
  ])
  const digest = createHash('sha256').update(bytes).digest('hex')
  if (sums.includes(`${digest}  ${name}\n`)) return bytes
  throw new Error(`${name} is not the file that SHA256SUMS names: install the package anew`)
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
  if (!(vector?.data instanceof Float32Array)) throw new Error('The model gave no vector')
  return vector.data
}
