import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Notice } from '../../lib/thread.ts'
import { inSlices } from './in-slices.ts'
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

/** Whatever is damaged or missing is reported and left out. */
export async function openSnapshot(options: SnapshotOptions): Promise<Snapshot> {
  const { directory, fingerprint, notify } = options
  await mkdir(directory, { recursive: true })
  const manifest = await usableManifest(options)
  if (!manifest) await rm(join(directory, MANIFEST), { force: true })
  const files = new Map<Segment, string>()
  for (const entry of manifest?.segments ?? []) {
    const segment = await loadSegment(directory, entry, notify)
    if (segment) files.set(segment, entry.file)
  }
  const found = await readdir(directory)
  let generation = Math.max(manifest?.generation ?? 0, ...found.map(numberOf))
  await removeAllBut(new Set(files.values()), directory, found)

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
      await writeManifest(directory, { fingerprint, generation, segments: entries })
      for (const segment of files.keys()) {
        if (!segments.includes(segment)) files.delete(segment)
      }
      await removeAllBut(new Set(files.values()), directory, await readdir(directory))
    },
  }
}

async function usableManifest(options: SnapshotOptions): Promise<Manifest | undefined> {
  const { directory, fingerprint, notify } = options
  try {
    const manifest = await readManifest(directory)
    if (!manifest || manifest.fingerprint === fingerprint) return manifest
    const fields = { was: manifest.fingerprint, is: fingerprint }
    notify({ message: OTHER, fields })
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

function numberOf(file: string): number {
  return Number(SEGMENT_FILE.exec(file)?.[1] ?? 0)
}

/** Touches only files that an index has made. */
async function removeAllBut(
  kept: ReadonlySet<string>,
  directory: string,
  found: readonly string[],
): Promise<void> {
  const ours = found.filter((file) => SEGMENT_FILE.test(file) || file === UNFINISHED_MANIFEST)
  for (const file of ours) {
    if (!kept.has(file)) await rm(join(directory, file), { force: true })
  }
}

const MANIFEST = 'manifest.json'
const UNFINISHED_MANIFEST = unfinished(MANIFEST)

/** Raise it when an older or newer server could not read what is on the disk. */
const FORMAT = 1

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

/** Replaces the manifest in one step that a crash or a power cut cannot halve. */
async function writeManifest(directory: string, manifest: Manifest): Promise<void> {
  await writeCheckedJson(directory, MANIFEST, { format: FORMAT, manifest })
}

/** Nothing if there is none. Throws if it is not what `writeManifest` wrote. */
async function readManifest(directory: string): Promise<Manifest | undefined> {
  return readCheckedJson<Manifest>(directory, MANIFEST, FORMAT)
}

/** Bytes checked between two chances to pause. */
const BYTES_PER_STEP = 2 ** 20
/** The checksum covers what follows it. */
const CHECKED_FROM = (HEADER.checksum + 1) * Uint32Array.BYTES_PER_ELEMENT

/** Resolves when the segment is on the disk; what was removed from it is not in the file. */
async function writeSegmentFile(path: string, segment: Segment): Promise<void> {
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
async function readSegmentFile(path: string): Promise<Segment> {
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

interface Envelope<Manifest> {
  format: number
  manifest: Manifest
}

/** What a file is called until it is whole. */
export function unfinished(file: string): string {
  return `${file}.new`
}

/** Replaces the file in one step that a crash or a power cut cannot halve. */
export async function writeCheckedJson<Manifest>(
  directory: string,
  file: string,
  { format, manifest }: Envelope<Manifest>,
): Promise<void> {
  const path = join(directory, unfinished(file))
  const checksum = crc32(JSON.stringify(manifest))
  const handle = await open(path, 'w')
  try {
    await handle.writeFile(JSON.stringify({ format, checksum, manifest }))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(path, join(directory, file))
  await syncDirectory(directory)
}

/** Nothing if there is none. Throws if it is not what `writeCheckedJson` wrote, or of another format. */
export async function readCheckedJson<Manifest>(
  directory: string,
  file: string,
  expected: number,
): Promise<Manifest | undefined> {
  const text = await readFile(join(directory, file), 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (text === undefined) return undefined
  const { format, checksum, manifest } = JSON.parse(text)
  if (format !== expected) throw new Error(`its format is ${format}, not ${expected}`)
  if (crc32(JSON.stringify(manifest)) !== checksum) throw new Error('the checksum does not match')
  return manifest
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/** A file's name is durable once its directory is. */
async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
