/**
 * Vectors are kept as 16-bit floats, which takes half of the room: their rounding, below 0.05 % of each
 * number, moves a cosine by some 0.0001, far less than what tells two passages apart. See
 * docs/retrieval-quality.md for what was measured.
 */
export function toHalfFloats(vector: Float32Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new Float16Array(vector).buffer)
}

/** Writes the numbers of a stored vector into `target`, which may be shorter. */
export function fromHalfFloats(stored: Uint8Array, target: Float32Array): void {
  // The bytes may begin at an odd address, where no 16-bit array can.
  const aligned = stored.byteOffset % 2 === 0 ? stored : stored.slice()
  target.set(new Float16Array(aligned.buffer, aligned.byteOffset, target.length))
}

export function dimensionOf(stored: Uint8Array): number {
  return stored.byteLength / Float16Array.BYTES_PER_ELEMENT
}
