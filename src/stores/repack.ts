/**
 * The same bytes in pieces of `length`, the last one excepted. A piece holds until the next is asked for: they
 * share one memory, which goes from thread to thread without a copy that waits to be collected.
 */
export async function* repack(
  pieces: AsyncIterable<Uint8Array>,
  length: number,
): AsyncGenerator<Uint8Array<SharedArrayBuffer>> {
  const piece = new Uint8Array(new SharedArrayBuffer(length))
  let filled = 0
  for await (const incoming of pieces) {
    for (let position = 0; position < incoming.length; ) {
      const part = incoming.subarray(position, position + length - filled)
      piece.set(part, filled)
      filled += part.length
      position += part.length
      if (filled < length) break
      yield piece
      filled = 0
    }
  }
  if (filled > 0) yield piece.subarray(0, filled)
}
