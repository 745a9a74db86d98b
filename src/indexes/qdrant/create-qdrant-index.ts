import type { CollectionSettings } from '../qdrant-settings.ts'
import { createCollections } from './collections.ts'
import { indexOn, type QdrantIndex } from './index-on.ts'
import { createNextCollections } from './next-collections.ts'
import { connectToQdrant, type QdrantAddress } from './qdrant-connection.ts'
import { createServedCollections } from './served-collections.ts'

export interface QdrantIndexOptions {
  address: QdrantAddress
  /** What the names of the collections begin with. */
  prefix: string
  settings: CollectionSettings
  /** `Analyser.fingerprint`: a collection made under another one is refused. */
  fingerprint: string
  /** Changes when all vectors are made anew: those of another one are refused. */
  vectorFingerprint: string
  /** The mean length of a chunk, in terms, asked when the collection is made. */
  averageLength: () => Promise<number>
}

/** An index in a Qdrant that any number of servers share. Nothing is sent before `open`. */
export function createQdrantIndex(options: QdrantIndexOptions): QdrantIndex {
  const connection = connectToQdrant(options.address)
  const collections = createCollections(connection)
  const served = createServedCollections({ ...options, collections })
  return indexOn(connection, served, options.settings)
}

export interface NextIndex {
  /** As yet without anything that was not put into it, by this run or by one that was interrupted. */
  index: QdrantIndex
  /** Puts it in the place of the one that serves, in one step, and removes that. */
  serve(): Promise<void>
}

/** An index beside the one that serves, which it may replace. */
export async function createNextIndex(
  options: QdrantIndexOptions,
  signal?: AbortSignal,
): Promise<NextIndex> {
  const connection = connectToQdrant(options.address)
  const collections = createCollections(connection)
  const next = await createNextCollections({ ...options, collections }, signal)
  return { index: indexOn(connection, next, options.settings), serve: next.serve }
}
