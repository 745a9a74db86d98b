import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { inSlices, type Notice } from '../../lib/thread.ts'
import { createManifestFile, writeDurably } from './manifest.ts'
import { HEADER, readSegment, removeChunk, type Segment } from './segment.ts'

const OTHER =
  'the search index was made with other settings, or of another database: starting afresh'
const SEGMENT_FILE = /^(\d+)\.segment$/

/** The index on the disk. Its files are written once and never changed; a manifest says which of them count. */
export interface Snapshot {
  /** What could be read at the start. */
  readonly loaded: readonly Segment[]
  isWritten(segment: Segment): boolean
  /** Makes these segments, and what is removed from them when they are all written, the ones that a start finds. */
  save(segments: readonly Segment[]): Promise<void>
}

interface SnapshotOptions {
  directory: string
  /** A snapshot made under another one is of no use. */
  fingerprint: string
  notify: (notice: Notice) => void
}

/** Which files make up the index. It alone says so: a file that it does not name is not part of it. */
interface Manifest {
  fingerprint: string
  /** The highest number that a file was named with. */
  generation: number
  segments: {
    file: string
    /** The ordinals of its removed chunks: 16-bit numbers, the low byte first, in base 64. */
    removed: string
  }[]
}

/** Whatever is damaged or missing is reported and left out. */
export async function openSnapshot(options: SnapshotOptions): Promise<Snapshot> {
  const { directory, fingerprint, notify } = options
  await mkdir(directory, { recursive: true })
  const manifestFile = createManifestFile<Manifest>(directory, 'manifest.json')
  const manifest = await readUsable(manifestFile, options)
  if (!manifest) await manifestFile.remove()
  const files = new Map<Segment, string>()
  for (const entry of manifest?.segments ?? []) {
    const segment = await loadSegment(directory, entry, notify)
    if (segment) files.set(segment, entry.file)
  }
  /** Touches only files that an index has made. */
  const removeOthers = async (found: readonly string[]) => {
    const kept = new Set(files.values())
    const others = found.filter((file) => SEGMENT_FILE.test(file) && !kept.has(file))
    for (const file of others) await rm(join(directory, file), { force: true })
    await manifestFile.tidy()
  }
  const found = await readdir(directory)
  const numberOf = (file: string) => Number(SEGMENT_FILE.exec(file)?.[1] ?? 0)
  let generation = Math.max(manifest?.generation ?? 0, ...found.map(numberOf))
  await removeOthers(found)

  return {
    loaded: [...files.keys()],
    isWritten: (segment) => files.has(segment),

    async save(segments) {
      for (const segment of segments) {
        if (files.has(segment)) continue
        const file = `${++generation}.segment`
        await writeSegmentFile(join(directory, file), segment)
        files.set(segment, file)
      }
      const entries = segments.map((segment) => ({
        file: files.get(segment) ?? '',
        removed: packRemoved(segment),
      }))
      await manifestFile.write({ fingerprint, generation, segments: entries })
      for (const segment of files.keys()) {
        if (!segments.includes(segment)) files.delete(segment)
      }
      await removeOthers(await readdir(directory))
    },
  }
}

async function readUsable(
  manifestFile: { read(): Promise<Manifest | undefined> },
  { fingerprint, notify }: SnapshotOptions,
): Promise<Manifest | undefined> {
  try {
    const manifest = await manifestFile.read()
    if (!manifest || manifest.fingerprint === fingerprint) return manifest
    notify({ message: OTHER, fields: { was: manifest.fingerprint, is: fingerprint } })
  } catch (error) {
    notify({
      message: 'the search index has no readable manifest: starting afresh',
      fields: { err: error },
    })
  }
  return undefined
}

async function loadSegment(
  directory: string,
  { file, removed }: Manifest['segments'][number],
  notify: (notice: Notice) => void,
): Promise<Segment | undefined> {
  try {
    const segment = await readSegmentFile(join(directory, file))
    const ordinals = Buffer.from(removed, 'base64')
    for (let at = 0; at < ordinals.length; at += 2) removeChunk(segment, ordinals.readUInt16LE(at))
    return segment
  } catch (error) {
    notify({
      message: 'part of the search index is lost: it will be indexed again',
      fields: { file, err: error },
    })
    return undefined
  }
}

function packRemoved({ removed }: Segment): string {
  if (!removed) return ''
  const ordinals: number[] = []
  removed.forEach((isRemoved, ordinal) => {
    if (isRemoved) ordinals.push(ordinal & 255, ordinal >>> 8)
  })
  return Buffer.from(ordinals).toString('base64')
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
  const segment = readSegment(new Uint8Array(await readFile(path)).buffer)
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
