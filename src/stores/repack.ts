/** The same bytes in pieces of `length`, the last one excepted; each has memory of its own. Empty pieces are left out. */
export async function* repack(
  pieces: AsyncIterable<Uint8Array>,
  length: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let piece = new Uint8Array(length)
  let filled = 0
  for await (const incoming of pieces) {
    for (let position = 0; position < incoming.length; ) {
      const part = incoming.subarray(position, position + length - filled)
      piece.set(part, filled)
      filled += part.length
      position += part.length
      if (filled < length) break
      yield piece
      piece = new Uint8Array(length)
      filled = 0
    }
  }
  if (filled > 0) yield piece.slice(0, filled)
}
