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

/** To embed a text, or only to check whether the model can read some. */
export type EmbeddingTask = { text: string } | { checked: readonly string[] }

export interface EmbeddingSettings {
  /** Stands before each window of the text. */
  prefix: string
  /** Maximum windows per text; the rest is ignored. */
  windows: number
  /** How many work on a text, and the process's nice value. */
  threads: number
  /** Whether it computes with 8 bits, where the weights have as many, rather than with floats. */
  eightBits: boolean
  niceness: number
  /** The model's package and what it takes. */
  directory: string
  tokenizer: BuiltinModel['tokenizer']
  window: number
}

export type ToEmbedding = EmbeddingTask & EmbeddingSettings

export type EmbeddingAnswer =
  | { vector: Float32Array<ArrayBuffer> }
  /** The positions of the texts of which the model's vocabulary lacks more than half. */
  | { unreadable: number[] }
export type FromEmbedding = EmbeddingAnswer | { failure: string }

type Tokenizer = ReturnType<typeof createTokenizer>

endWithParent()
let model: Promise<{ session: InferenceSession; tokenizer: Tokenizer }> | undefined
process.on('message', (message: ToEmbedding) => void answer(message))

async function answer(message: ToEmbedding): Promise<void> {
  try {
    model ??= load(message)
    const { session, tokenizer } = await model
    reply(
      'checked' in message
        ? check(tokenizer, message.checked)
        : await embed(session, tokenizer, message),
    )
  } catch (error) {
    reply({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}

function reply(answer: FromEmbedding): void {
  process.send?.(answer)
}

async function load({ directory, tokenizer, threads, niceness, eightBits }: EmbeddingSettings) {
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

/** Texts of unknown tokens are all alike, whatever their languages: each would be found for each of them. */
function isReadable(tokens: readonly number[], { unknown }: Tokenizer): boolean {
  return 2 * tokens.filter((token) => token === unknown).length <= tokens.length
}

function check(tokenizer: Tokenizer, texts: readonly string[]): EmbeddingAnswer {
  const unreadable = texts.flatMap((text, position) =>
    isReadable(tokenizer.tokenize(text), tokenizer) ? [] : [position],
  )
  return { unreadable }
}

/** Embeds a text. If it is longer than the window, averages the vectors of its windows, weighted by length. */
async function embed(
  session: InferenceSession,
  tokenizer: Tokenizer,
  { text, prefix, window, windows: maxWindows }: EmbeddingSettings & { text: string },
): Promise<EmbeddingAnswer> {
  const { begin, end, tokenize } = tokenizer
  const tokens = tokenize(text)
  if (!isReadable(tokens, tokenizer)) return { unreadable: [0] }
  const start = [begin, ...tokenize(prefix)]
  const room = window - start.length - 1
  const windows = Math.min(maxWindows, Math.max(1, Math.ceil(tokens.length / room)))
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
  return { vector: unit }
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
