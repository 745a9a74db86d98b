import { COLLECTION, toPlace } from '@agent-server/lib/labels.ts'
import { refuseOther } from '@agent-server/schemas/collection.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import type { NewDocument } from '../stores/document-store.ts'

export type Content = Omit<NewDocument, 'id'>

/**
 * Content with the collection that it names, in its metadata or beside them. With `allowed`, content that names none
 * goes into the only one of these. Throws `invalid_request` if it names two, and `collection_not_allowed`.
 */
export function placeInCollection(
  { collection: beside, ...content }: Content,
  allowed?: readonly string[],
): Content {
  const inMetadata = content.metadata?.[COLLECTION]
  if (beside !== undefined && inMetadata !== undefined && inMetadata !== beside) {
    const message = `must equal metadata.${COLLECTION}, or one of them must be omitted`
    throw refusal('collection', message)
  }
  const only = allowed?.length === 1 && inMetadata === undefined ? allowed[0] : undefined
  const collection = beside ?? only
  const place = toPlace(
    collection === undefined ? content.metadata : { ...content.metadata, [COLLECTION]: collection },
  )
  refuseOther(place.collection, allowed)
  return { ...content, ...place }
}
