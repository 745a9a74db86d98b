import { crc32, deflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const CHANNELS = 3

/** Encodes pixels in RGB, each side reduced by a whole number until it has at most `maxSide` pixels. */
export function encodePng(
  width: number,
  height: number,
  rgb: Uint8Array,
  maxSide: number,
): Uint8Array {
  const factor = Math.ceil(Math.max(width, height) / maxSide)
  const [columns, rows] = [Math.floor(width / factor) || 1, Math.floor(height / factor) || 1]
  const line = 1 + columns * CHANNELS
  // The first byte of a line names its filter: none.
  const lines = Buffer.alloc(rows * line)
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      for (let channel = 0; channel < CHANNELS; channel++) {
        lines[row * line + 1 + column * CHANNELS + channel] = meanOf(channel, row, column)
      }
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(columns, 0)
  header.writeUInt32BE(rows, 4)
  // Eight bits for each of three colours.
  header.set([8, 2], 8)
  return Buffer.concat([
    SIGNATURE,
    part('IHDR', header),
    part('IDAT', deflateSync(lines)),
    part('IEND', Buffer.alloc(0)),
  ])

  function meanOf(channel: number, row: number, column: number): number {
    const [bottom, right] = [
      Math.min(height, (row + 1) * factor),
      Math.min(width, (column + 1) * factor),
    ]
    let sum = 0
    let count = 0
    for (let y = row * factor; y < bottom; y++) {
      for (let x = column * factor; x < right; x++, count++) {
        sum += rgb[(y * width + x) * CHANNELS + channel] ?? 0
      }
    }
    return sum / Math.max(1, count)
  }
}

function part(name: string, content: Uint8Array): Buffer {
  const chunk = Buffer.concat([Buffer.from(name, 'latin1'), content])
  const frame = Buffer.alloc(4)
  frame.writeUInt32BE(content.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(chunk))
  return Buffer.concat([frame, chunk, sum])
}
