import type { CollectionSettings } from '../qdrant-settings.ts'
import { createCollections } from './collections.ts'
import { createPayloadIndexes } from './payload-indexes.ts'
import { createPoints } from './points.ts'
import type { QdrantConnection } from './qdrant-connection.ts'
import type { ServedCollections } from './served-collections.ts'
import { createTermsPart, type TermsPart } from './terms-part.ts'
import { createVectorsPart, type VectorsPart } from './vectors-part.ts'

/**
 * Words and vectors are collections of their own: either is made anew, spread and placed in memory without
 * the other, and writing one need not read the other.
 */
export interface Parts {
  terms: TermsPart
  vectors: VectorsPart
}

/** Throws what to do where what is kept does not fit. */
export async function openParts(
  connection: QdrantConnection,
  served: ServedCollections,
  { quantisation, filtersMemory }: CollectionSettings,
  signal?: AbortSignal,
): Promise<Parts> {
  const { averageLength } = await served.terms(signal)
  const collections = createCollections(connection)
  const pointsOf = (name: string) => createPoints(connection, name)
  const indexesOf = (name: string) => createPayloadIndexes(collections, name, filtersMemory)
  const { termsName, vectorsName } = served
  const vectors = createVectorsPart(
    pointsOf(vectorsName),
    indexesOf(vectorsName),
    served,
    quantisation,
  )
  await vectors.open(signal)
  return {
    terms: createTermsPart(pointsOf(termsName), indexesOf(termsName), averageLength),
    vectors,
  }
}
