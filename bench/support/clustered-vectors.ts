/** As many dimensions as small embedding models have. */
export const DIMENSION = 384
/** Chunks per document, and documents per topic. */
const CHUNKS_OF_A_DOCUMENT = 8
const DOCUMENTS_OF_A_TOPIC = 60
/** The distances of similar vectors, relative to the distance between topics. */
const SPREAD = { document: 0.7, chunk: 0.6, question: 0.5 }
/** The length of the component that all vectors of a model share, relative to the distance between topics. */
const COMMON = 0.6

type Vector = Float32Array<ArrayBuffer>

/** Unit vectors distributed like embeddings, the same in every run. */
export interface ClusteredVectors {
  /** The vector of the chunk with this number. */
  chunk(number: number): Vector
  /** The vector of a question that this chunk may answer. */
  question(chunk: number): Vector
}

/**
 * Topics are placed around a common direction, documents around topics, and chunks around documents; the first
 * dimensions carry the most variance, like the principal components of real embeddings. Nothing is stored: each vector
 * is generated from its own seeds, so any number of them takes no memory.
 */
export function createClusteredVectors(): ClusteredVectors {
  const weights = Float32Array.from({ length: DIMENSION }, (_, i) => (i + 1) ** -0.35)
  const common = gaussian(1, weights, COMMON, new Float32Array(DIMENSION))

  const chunk = (number: number): Vector => {
    const document = Math.floor(number / CHUNKS_OF_A_DOCUMENT)
    const topic = Math.floor(document / DOCUMENTS_OF_A_TOPIC)
    const vector = gaussian(seedOf(2, topic), weights, 1, common.slice())
    gaussian(seedOf(3, document), weights, SPREAD.document, vector)
    return gaussian(seedOf(4, number), weights, SPREAD.chunk, vector)
  }
  return {
    chunk: (number) => toUnit(chunk(number)),
    question: (number) =>
      toUnit(gaussian(seedOf(5, number), weights, SPREAD.question, chunk(number))),
  }
}

function seedOf(kind: number, number: number): number {
  return Math.imul(number + 1, 0x9e3779b1) ^ Math.imul(kind, 0x85ebca6b)
}

/** Adds a seeded, approximately normal draw (the sum of four uniform ones) to `vector`. */
function gaussian(seed: number, weights: Float32Array, scale: number, vector: Vector): Vector {
  let state = seed
  for (let i = 0; i < DIMENSION; i++) {
    let sum = -2
    for (let draw = 0; draw < 4; draw++) {
      // Mulberry32, by Tommy Ettinger, in the public domain.
      state = (state + 0x6d2b79f5) | 0
      let mixed = Math.imul(state ^ (state >>> 15), state | 1)
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
      sum += ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
    }
    vector[i] = (vector[i] ?? 0) + sum * scale * (weights[i] ?? 0)
  }
  return vector
}

function toUnit(vector: Vector): Vector {
  const norm = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  return vector.map((value) => value / norm)
}
