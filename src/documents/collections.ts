import { hash } from 'node:crypto'
import { COLLECTION, toPlace } from '@agent-server/lib/labels.ts'
import { idIn, refuseOther } from '@agent-server/schemas/collection.ts'
import { refusal } from '@agent-server/schemas/invalid-request.ts'
import type { NewDocument } from '@agent-server/stores'

export type Content = Omit<NewDocument, 'id'>

/** A person's id as ids of documents have it: as long and as plain as they are, whatever the issuer calls people. */
const PERSON_CHARACTERS = 22

/** The id of a document that a person names; for the same reason as `idIn`. */
export const idOfPerson = (person: string, ownId: string) =>
  idIn(`u-${hash('sha256', person, 'base64url').slice(0, PERSON_CHARACTERS)}`, ownId)

/**
 * Content with the collection that it names, in its metadata or beside them. With `allowed`, content that names none
 * goes into the only one of these. Throws `invalid_request` if it names two, and `collection_not_allowed`.
 */
export function placeInCollection(
  { collection: beside, ...content }: Content,
  allowed?: readonly string[],
  writer?: string,
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
  refuseOther(place.collection, allowed, writer)
  return { ...content, ...place }
}
