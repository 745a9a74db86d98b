import { readCheckedJson, unfinished, writeCheckedJson } from './checked-json.ts'

export const MANIFEST = 'manifest.json'
export const UNFINISHED_MANIFEST = unfinished(MANIFEST)

/** Raise it when an older or newer server could not read what is on the disk. */
const FORMAT = 1

/** Which files make up the index. It alone says so: a file that it does not name is not part of it. */
export interface Manifest {
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
export async function writeManifest(directory: string, manifest: Manifest): Promise<void> {
  await writeCheckedJson(directory, MANIFEST, { format: FORMAT, manifest })
}

/** Nothing if there is none. Throws if it is not what `writeManifest` wrote. */
export async function readManifest(directory: string): Promise<Manifest | undefined> {
  return readCheckedJson<Manifest>(directory, MANIFEST, FORMAT)
}
