const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d

export interface Line {
  /** From 1. */
  number: number
  /** Without its line ending; undefined if the line was longer than the limit. */
  bytes: Buffer | undefined
}

/**
 * The lines of a stream, ended by `\n` or `\r\n`, the last one also by the end of the stream. At most one line is in
 * memory, and nothing of one that is too long; the lines after it follow.
 */
export async function* readLines(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Line> {
  let number = 0
  let parts: Uint8Array[] = []
  let length = 0

  const hold = (part: Uint8Array) => {
    length += part.length
    if (length > maxBytes) parts = []
    else if (part.length > 0) parts.push(part)
  }
  const take = (): Line => {
    const bytes = length > maxBytes ? undefined : withoutReturn(Buffer.concat(parts, length))
    parts = []
    length = 0
    return { number: ++number, bytes }
  }

  for await (const part of source) {
    let start = 0
    for (let end = part.indexOf(NEWLINE); end !== -1; end = part.indexOf(NEWLINE, start)) {
      hold(part.subarray(start, end))
      start = end + 1
      yield take()
    }
    hold(part.subarray(start))
  }
  if (length > 0) yield take()
}

function withoutReturn(line: Buffer): Buffer {
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line
}
