/** The fields of a passage that are embedded. */
export interface EmbeddedText {
  title: string | undefined
  heading: string
  text: string
}

/** What says most comes first: a text that is too long is cut at its end. */
export function toEmbeddedText({ title, heading, text }: EmbeddedText): string {
  return [title, heading, text].filter(Boolean).join('\n')
}

/** Vectors of one length, one after another. */
export function joinVectors(vectors: readonly Float32Array[]): {
  dimension: number
  values: Float32Array<ArrayBuffer>
} {
  const dimension = vectors[0]?.length ?? 0
  const values = new Float32Array(vectors.length * dimension)
  for (const [position, vector] of vectors.entries()) values.set(vector, position * dimension)
  return { dimension, values }
}
