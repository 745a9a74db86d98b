import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { inSlices } from '@agent-server/lib/processes/thread.ts'
import type { Part } from './changes.ts'
import { type IndexFilesOptions, openIndexFiles, readWhole, writeDurably } from './index-files.ts'
import type { LexicalIndex } from './lexical.ts'
import { chooseMerge, chooseMergeToWrite, mergeSegments } from './merge.ts'
import { HEADER, MAX_CHUNKS, readSegment, removeChunk, type Segment } from './segment.ts'

const SEGMENTS = {
  format: 3,
  manifestName: 'manifest.json',
  numbered: /^(\d+)\.segment$/,
  messages: {
    other:
      'the search index was created with other settings or from another database: rebuilding it',
    unreadable: 'the search index has no readable manifest: rebuilding it',
  },
}

interface Manifest {
  segments: {
    file: string
    /** The ordinals of its removed chunks. */
    removed: number[]
  }[]
}

type Snapshot = Awaited<ReturnType<typeof openSnapshot>>

/** Opens the segments on disk. Damaged or missing ones are logged and skipped. */
export async function openSnapshot(options: IndexFilesOptions) {
  const { directory, notify } = options
  const files = await openIndexFiles<Manifest>(SEGMENTS, options)
  const fileOf = new Map<Segment, string>()
  for (const { file, removed } of files.content?.segments ?? []) {
    try {
      const segment = await readSegmentFile(join(directory, file))
      for (const ordinal of removed) removeChunk(segment, ordinal)
      fileOf.set(segment, file)
    } catch (error) {
      const message = 'part of the search index was lost and will be indexed again'
      notify({ message, fields: { file, err: error } })
    }
  }
  await files.removeAllBut([...fileOf.values()])

  return {
    /** The segments that could be read at start-up. */
    loaded: [...fileOf.keys()],
    isWritten: (segment: Segment) => fileOf.has(segment),

    /** Writes these segments and makes them the current ones. */
    async save(segments: readonly Segment[]): Promise<void> {
      for (const segment of segments) {
        if (fileOf.has(segment)) continue
        const file = `${files.nextNumber()}.segment`
        await writeSegmentFile(join(directory, file), segment)
        fileOf.set(segment, file)
      }
      const entries = segments.map((segment) => ({
        file: fileOf.get(segment) ?? '',
        removed: removedFrom(segment),
      }))
      for (const segment of fileOf.keys()) {
        if (!segments.includes(segment)) fileOf.delete(segment)
      }
      await files.save({ segments: entries }, [...fileOf.values()])
    },
  }
}

/** Maximum number of unwritten chunks: after a crash they must be indexed again. */
const MAX_UNWRITTEN = MAX_CHUNKS / 8

/** Merges the segments of an index and writes them. */
export function createLexicalPart(index: LexicalIndex, snapshot: Snapshot): Part {
  let writtenVersion = index.version
  let writeAbove = MAX_UNWRITTEN

  const unwritten = () => index.segments.filter((segment) => !snapshot.isWritten(segment))

  /** Merges for as long as `choose` finds segments to merge. */
  const merge = async (choose: () => readonly Segment[] | undefined) => {
    for (let group = choose(); group; group = choose())
      index.replace(group, await inSlices(mergeSegments(group)))
  }

  const flush = async () => {
    if (index.version === writtenVersion) return
    await merge(() => chooseMergeToWrite(unwritten()))
    await snapshot.save(index.segments)
    writtenVersion = index.version
    writeAbove = MAX_UNWRITTEN
  }

  return {
    async tidy() {
      await merge(() => chooseMerge(index.segments))
      const waiting = unwritten().reduce((sum, { live }) => sum + live, 0)
      if (waiting <= writeAbove) return
      // If this fails, it is not repeated with every change.
      writeAbove = waiting + MAX_UNWRITTEN
      await flush()
    },
    rest: flush,
    flush,
  }
}

function removedFrom({ removed }: Segment): number[] {
  const ordinals: number[] = []
  removed?.forEach((isRemoved, ordinal) => {
    if (isRemoved) ordinals.push(ordinal)
  })
  return ordinals
}

/** Bytes checked between two yields. */
const BYTES_PER_STEP = 2 ** 20
/** The checksum covers everything after it. */
const CHECKED_FROM = (HEADER.checksum + 1) * Uint32Array.BYTES_PER_ELEMENT

/** Resolves when the segment is on disk. The file does not contain `removed`; removals are in the manifest. */
async function writeSegmentFile(path: string, segment: Segment): Promise<void> {
  segment.header[HEADER.checksum] = await inSlices(checksum(segment))
  await writeDurably(path, new Uint8Array(segment.bytes))
}

/** Throws if the file is missing or damaged. */
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
