/** Maximum bytes of a frame's header, which holds only names and sizes. */
const MAX_HEADER = 64 * 1_024
const LENGTH_BYTES = 4

/** A header in JSON and the parts that follow it; the header's `sizes` holds the length of each part. */
export interface Frame {
  header: object
  parts: Buffer[]
}

/** Encodes a frame: the header's length, the header, then the parts. */
export function encodeFrame(header: object, parts: readonly Uint8Array[]): Uint8Array[] {
  const sizes = parts.map(({ byteLength }) => byteLength)
  const text = Buffer.from(JSON.stringify({ ...header, sizes }))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(text.length)
  return [length, text, ...parts]
}

/**
 * Decodes a frame. Yields how many bytes it needs next, and must be resumed with exactly that many. Throws if the frame
 * is malformed or too long.
 */
export function* decodeFrame(maximumPayload: number): Generator<number, Frame, Buffer> {
  const length = (yield LENGTH_BYTES).readUInt32BE()
  if (length > MAX_HEADER) throw new Error('The header of a frame is too long')
  const header: unknown = JSON.parse((yield length).toString())
  if (!hasSizes(header)) throw new Error('The header of a frame has no sizes')
  const total = header.sizes.reduce((sum, size) => sum + size, 0)
  if (total > maximumPayload) throw new Error('A frame is too long')
  const parts: Buffer[] = []
  for (const size of header.sizes) parts.push(size === 0 ? Buffer.alloc(0) : yield size)
  return { header, parts }
}

function hasSizes(header: unknown): header is { sizes: number[] } {
  if (typeof header !== 'object' || header === null || !('sizes' in header)) return false
  const { sizes } = header
  return Array.isArray(sizes) && sizes.every((size) => Number.isSafeInteger(size) && size >= 0)
}

/** Takes bytes as they arrive and calls `onFrame` for each complete frame. Throws if one is malformed or too long. */
export function createFrameReader(maximumPayload: number, onFrame: (frame: Frame) => void) {
  let chunks: Buffer[] = []
  let buffered = 0
  let decoder = decodeFrame(maximumPayload)
  let step = decoder.next()

  const take = (size: number): Buffer => {
    const all = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
    chunks = [all.subarray(size)]
    buffered -= size
    return all.subarray(0, size)
  }
  return (chunk: Buffer): void => {
    chunks.push(chunk)
    buffered += chunk.length
    while (!step.done && buffered >= step.value) {
      step = decoder.next(take(step.value))
      if (!step.done) continue
      onFrame(step.value)
      decoder = decodeFrame(maximumPayload)
      step = decoder.next()
    }
  }
}
