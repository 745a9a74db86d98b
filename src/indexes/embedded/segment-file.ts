import { type FileHandle, open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { inSlices } from './in-slices.ts'
import { HEADER, readSegment, type Segment } from './segment.ts'

/** Bytes checked between two chances to pause. */
const BYTES_PER_STEP = 2 ** 20
/** The checksum covers what follows it. */
const CHECKED_FROM = (HEADER.checksum + 1) * Uint32Array.BYTES_PER_ELEMENT

/** Resolves when the segment is on the disk; what was removed from it is not in the file. */
export async function writeSegmentFile(path: string, segment: Segment): Promise<void> {
  segment.header[HEADER.checksum] = await inSlices(checksum(segment))
  const file = await open(path, 'w')
  try {
    await file.writeFile(new Uint8Array(segment.bytes))
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Throws if the file is missing or is not what `writeSegmentFile` wrote. */
export async function readSegmentFile(path: string): Promise<Segment> {
  const file = await open(path, 'r')
  try {
    const segment = readSegment(await readAll(file))
    if (!segment) throw new Error('the file is cut short or no segment')
    if (segment.header[HEADER.checksum] !== (await inSlices(checksum(segment)))) {
      throw new Error('the checksum does not match')
    }
    return segment
  } finally {
    await file.close()
  }
}

async function readAll(file: FileHandle): Promise<ArrayBuffer> {
  const bytes = new Uint8Array((await file.stat()).size)
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at)
    if (bytesRead === 0) break
    at += bytesRead
  }
  return bytes.buffer
}

function* checksum({ bytes }: Segment): Generator<void, number> {
  let sum = 0
  for (let at = CHECKED_FROM; at < bytes.byteLength; at += BYTES_PER_STEP) {
    const length = Math.min(BYTES_PER_STEP, bytes.byteLength - at)
    sum = crc32(new Uint8Array(bytes, at, length), sum)
    yield
  }
  return sum
}
