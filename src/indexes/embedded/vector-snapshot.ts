import { open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Notice } from '../../lib/thread.ts'
import { readCheckedJson, unfinished, writeCheckedJson } from './checked-json.ts'
import type { VectorIndex, VectorIndexKind } from './vector-index.ts'

const MANIFEST = 'vectors.json'
const VECTORS_FILE = /^(\d+)\.(?:graph|keys)$/
/** Raise it when an older or newer server could not read what is on the disk. */
const FORMAT = 1

interface Manifest {
  fingerprint: string
  dimension: number
  /** In the names of its files. */
  generation: number
  graphChecksum: number
  keysChecksum: number
}

interface SnapshotOptions {
  directory: string
  /** Changes when all vectors are made anew: those of another one are of no use. */
  fingerprint: string
  kind: VectorIndexKind
  notify: (notice: Notice) => void
}

export interface VectorSnapshot {
  /** What could be read at the start. */
  readonly loaded: VectorIndex | undefined
  /** Makes the index the one that a start finds. */
  save(index: VectorIndex): Promise<void>
}

/** The vector index on the disk. Whatever is damaged, missing or of other vectors is reported and left out. */
export async function openVectorSnapshot(options: SnapshotOptions): Promise<VectorSnapshot> {
  const { directory, fingerprint, kind, notify } = options
  let loaded: VectorIndex | undefined
  try {
    loaded = await load(options)
  } catch (error) {
    notify({
      message: 'the vectors of the search index cannot be read: they will be indexed again',
      fields: { err: error },
    })
  }
  const found = await readdir(directory)
  let generation = Math.max(0, ...found.map((file) => Number(VECTORS_FILE.exec(file)?.[1] ?? 0)))
  if (!loaded) await removeAllBut(undefined, directory)

  return {
    loaded,
    async save(index) {
      if (!index.save || !kind.load) return
      const { graph, keys } = filesOf(directory, ++generation)
      index.save(graph)
      await writeWhole(keys, new Uint8Array(index.keys().buffer))
      await syncFile(graph)
      const manifest: Manifest = {
        ...{ fingerprint, generation, dimension: index.dimension },
        graphChecksum: crc32(await readFile(graph)),
        keysChecksum: crc32(await readFile(keys)),
      }
      await writeCheckedJson(directory, MANIFEST, { format: FORMAT, manifest })
      await removeAllBut(generation, directory)
    },
  }
}

async function load({ directory, fingerprint, kind, notify }: SnapshotOptions) {
  const manifest = await readCheckedJson<Manifest>(directory, MANIFEST, FORMAT)
  if (!manifest || !kind.load) return undefined
  if (manifest.fingerprint !== fingerprint) {
    const fields = { was: manifest.fingerprint, is: fingerprint }
    notify({ message: 'the vectors have been made anew: indexing them afresh', fields })
    return undefined
  }
  const { graph, keys } = filesOf(directory, manifest.generation)
  const held = await readFile(keys)
  // The library trusts what it loads: a damaged file must not reach it.
  const isWhole =
    crc32(held) === manifest.keysChecksum && crc32(await readFile(graph)) === manifest.graphChecksum
  if (!isWhole) throw new Error('a checksum does not match')
  return kind.load(graph, manifest.dimension, new Uint32Array(new Uint8Array(held).buffer))
}

function filesOf(directory: string, generation: number) {
  return {
    graph: join(directory, `${generation}.graph`),
    keys: join(directory, `${generation}.keys`),
  }
}

async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'w')
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

async function removeAllBut(kept: number | undefined, directory: string): Promise<void> {
  if (kept === undefined) await rm(join(directory, MANIFEST), { force: true })
  await rm(join(directory, unfinished(MANIFEST)), { force: true })
  for (const file of await readdir(directory)) {
    const generation = VECTORS_FILE.exec(file)?.[1]
    if (generation !== undefined && Number(generation) !== kept) {
      await rm(join(directory, file), { force: true })
    }
  }
}
