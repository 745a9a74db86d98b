import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Notice } from '../../lib/thread.ts'
import {
  MANIFEST,
  type Manifest,
  readManifest,
  UNFINISHED_MANIFEST,
  writeManifest,
} from './manifest.ts'
import { removeChunk, type Segment } from './segment.ts'
import { readSegmentFile, writeSegmentFile } from './segment-file.ts'

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
