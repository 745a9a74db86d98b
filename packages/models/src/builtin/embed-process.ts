import { setPriority } from 'node:os'
import { readChecked } from '@agent-server/lib/checked-file.ts'
import { endWithParent } from '@agent-server/lib/processes/job.ts'
import { toUnit } from '@agent-server/lib/unit-vector.ts'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import type { BuiltinModel } from './models.ts'
import { createUnigramTokenizer } from './sentence-piece.ts'
import { createTokenizer } from './word-piece.ts'

// Entry file of a separate process: keeps the runtime and the weights out of the server's memory, and a crash in native
// code does not end the server.

export interface ToEmbedding {
  text: string
  /** Stands before each window of the text. */
  prefix: string
  /** The rest is the same in each message: how many work on a text, and the process's nice value. */
  threads: number
  /** Whether it computes with 8 bits, where the weights have as many, rather than with floats. */
  eightBits: boolean
  niceness: number
  /** The model's package and what it takes. */
  directory: string
  tokenizer: BuiltinModel['tokenizer']
  window: number
}
export type FromEmbedding = { vector: Float32Array<ArrayBuffer> } | { failure: string }

/** Maximum windows per text, eight pages or more; the rest is ignored. */
const MAX_WINDOWS = 16

type Tokenizer = ReturnType<typeof createTokenizer>

endWithParent()
let model: Promise<{ session: InferenceSession; tokenizer: Tokenizer }> | undefined
process.on('message', (message: ToEmbedding) => void answer(message))

async function answer(message: ToEmbedding): Promise<void> {
  try {
    model ??= load(message)
    const { session, tokenizer } = await model
    reply({ vector: await embed(session, tokenizer, message) })
  } catch (error) {
    reply({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}

function reply(answer: FromEmbedding): void {
  process.send?.(answer)
}

async function load({ directory, tokenizer, threads, niceness, eightBits }: ToEmbedding) {
  setPriority(niceness)
  const weights = await readChecked(directory, 'model.onnx')
  const session = await InferenceSession.create(weights, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    extra: {
      session: {
        // Idle threads must not take CPU time.
        intra_op: { allow_spinning: '0' },
        // With 8 bits there is a scale for each block. The largest blocks take a sixth less time than the default of 32
        // numbers, and rank as well. Without, the weights become floats here, once: vectors differ by less than 0.001.
        ...(eightBits ? { qdq_matmulnbits_block_size: '-1' } : { disable_quant_qdq: '1' }),
      },
      // The fused operator takes seven times as long as its two parts, 5 ms of a text.
      optimization: { disable_specified_optimizers: 'SkipLayerNormFusion' },
    },
  })
  // Gives their memory back now: garbage is seldom collected in a process that has little to do.
  weights.buffer.transfer(0)
  return { session, tokenizer: await TOKENIZERS[tokenizer](directory) }
}

const TOKENIZERS = {
  'word-piece': async (directory: string) => {
    const vocabulary = await readChecked(directory, 'vocab.txt')
    return createTokenizer(vocabulary.toString('utf8').trimEnd().split('\n'))
  },
  unigram: async (directory: string) => {
    const vocabulary = await readChecked(directory, 'vocabulary.tsv')
    return createUnigramTokenizer(vocabulary.toString('utf8'))
  },
}

/** Embeds a text. If it is longer than the window, averages the vectors of its windows, weighted by length. */
async function embed(
  session: InferenceSession,
  { begin, end, tokenize }: Tokenizer,
  { text, prefix, window }: ToEmbedding,
) {
  const tokens = tokenize(text)
  const start = [begin, ...tokenize(prefix)]
  const room = window - start.length - 1
  const windows = Math.min(MAX_WINDOWS, Math.max(1, Math.ceil(tokens.length / room)))
  const length = Math.min(room, Math.ceil(tokens.length / windows))
  let sum: Float32Array<ArrayBuffer> | undefined
  for (let at = 0; at < windows; at++) {
    const part = tokens.slice(at * length, (at + 1) * length)
    const vector = await run(session, [...start, ...part, end])
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
