import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { inSlices } from '../../lib/processes/thread.ts'
import { type IndexFilesOptions, openIndexFiles, readWhole, writeDurably } from './index-files.ts'
import { HEADER, readSegment, removeChunk, type Segment } from './segment.ts'

const SEGMENTS = {
  manifestName: 'manifest.json',
  numbered: /^(\d+)\.segment$/,
  messages: {
    other: 'the search index was made with other settings, or of another database: starting afresh',
    unreadable: 'the search index has no readable manifest: starting afresh',
  },
}

interface Manifest {
  segments: {
    file: string
    /** The ordinals of its removed chunks: 16-bit numbers, the low byte first, in base 64. */
    removed: string
  }[]
}

export type Snapshot = Awaited<ReturnType<typeof openSnapshot>>

/** The segments on the disk. Whatever is damaged or missing is reported and left out. */
export async function openSnapshot(options: IndexFilesOptions) {
  const { directory, notify } = options
  const files = await openIndexFiles<Manifest>(SEGMENTS, options)
  const written = new Map<Segment, string>()
  for (const { file, removed } of files.content?.segments ?? []) {
    try {
      const segment = await readSegmentFile(join(directory, file))
      unpackRemoved(segment, removed)
      written.set(segment, file)
    } catch (error) {
      const message = 'part of the search index is lost: it will be indexed again'
      notify({ message, fields: { file, err: error } })
    }
  }
  await files.removeAllBut([...written.values()])

  return {
    /** What could be read at the start. */
    loaded: [...written.keys()],
    isWritten: (segment: Segment) => written.has(segment),

    /** Makes these segments, and what is removed from them when they are all written, the ones that a start finds. */
    async save(segments: readonly Segment[]): Promise<void> {
      for (const segment of segments) {
        if (written.has(segment)) continue
        const file = `${files.nextNumber()}.segment`
        await writeSegmentFile(join(directory, file), segment)
        written.set(segment, file)
      }
      const entries = segments.map((segment) => ({
        file: written.get(segment) ?? '',
        removed: packRemoved(segment),
      }))
      for (const segment of written.keys()) {
        if (!segments.includes(segment)) written.delete(segment)
      }
      await files.save({ segments: entries }, [...written.values()])
    },
  }
}

function packRemoved({ removed }: Segment): string {
  const ordinals: number[] = []
  removed?.forEach((isRemoved, ordinal) => {
    if (isRemoved) ordinals.push(ordinal & 255, ordinal >>> 8)
  })
  return Buffer.from(ordinals).toString('base64')
}

function unpackRemoved(segment: Segment, removed: string): void {
  const ordinals = Buffer.from(removed, 'base64')
  for (let at = 0; at < ordinals.length; at += 2) removeChunk(segment, ordinals.readUInt16LE(at))
}

/** Bytes checked between two chances to pause. */
const BYTES_PER_STEP = 2 ** 20
/** The checksum covers what follows it. */
const CHECKED_FROM = (HEADER.checksum + 1) * Uint32Array.BYTES_PER_ELEMENT

/** Resolves when the segment is on the disk; what was removed from it is not in the file. */
async function writeSegmentFile(path: string, segment: Segment): Promise<void> {
  segment.header[HEADER.checksum] = await inSlices(checksum(segment))
  await writeDurably(path, new Uint8Array(segment.bytes))
}

/** Throws if the file is missing or is not what `writeSegmentFile` wrote. */
async function readSegmentFile(path: string): Promise<Segment> {
  const segment = readSegment((await readWhole(path)).buffer)
  if (!segment) throw new Error('the file is cut short or no segment')
  if (segment.header[HEADER.checksum] !== (await inSlices(checksum(segment)))) {
    throw new Error('the checksum does not match')
  }
  return segment
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
