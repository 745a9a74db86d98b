import { toPlace } from '@agent-server/lib/labels.ts'
import { idIn } from '@agent-server/schemas/collection.ts'
import type { Document } from '@agent-server/schemas/document.ts'
import { refusal, refusalOf } from '@agent-server/schemas/invalid-request.ts'
import type { Metadata } from '@agent-server/schemas/metadata.ts'
import type { FilePart, FormPart } from '@agent-server/schemas/new-document.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import type { Documents, Files } from '../services.ts'
import { type Uploaded, UploadFields } from './schema.ts'
import { checkCollection, documentIdFor, HASH, nameOf, PATH, pathOf } from './synced-documents.ts'

/** The longest value of metadata. */
const MAX_PATH = 500

interface Dependencies {
  documents: Pick<Documents, 'find' | 'patch'>
  files: Pick<Files, 'put'>
  caller: Pick<Caller, 'collections'>
}

/** Makes documents of the files of a source. */
export function createUpload({ documents, files, caller }: Dependencies) {
  /**
   * Adds or replaces the document of a file; the previous content is found until the new one is ready. Throws
   * `invalid_request` and `collection_not_allowed` before the file is read, and like `files.put`.
   */
  return async (parts: AsyncGenerator<FormPart>, signal: AbortSignal): Promise<Uploaded> => {
    const { fields, file } = await readUntilFile(parts)
    const { knowledge_id: collection, file_hash: hash, directory_id = '', access } = fields.metadata
    checkCollection(collection, caller)
    const path = pathOf(directory_id, file.fileName ?? '')
    if (path.length > MAX_PATH) {
      throw refusal('file', `must have a path of at most ${MAX_PATH} characters`)
    }
    const ownId = documentIdFor(collection, path)
    // For a key with collections, the corpus adds the collection itself.
    const id = caller.collections ? ownId : idIn(collection, ownId)
    const existing = await documents.find(id)
    // What others have added to the metadata stays.
    const metadata = { ...toPlace(existing?.metadata).metadata, [PATH]: path, [HASH]: hash }
    const created = await files.put(id, formOf({ collection, metadata, access, file }, parts))
    const stored = await documents.find(created.id)
    // Until its replacement is ready, a document has the metadata of the previous content. With the hash of that, the
    // next comparison would have the file sent again, and again if it cannot be ingested.
    if (stored && isBeingReplaced(stored)) {
      await documents.patch(created.id, { metadata: { [HASH]: hash } }, signal)
    }
    return { id: created.id, filename: nameOf(path) }
  }
}

/** Throws `invalid_request`. */
async function readUntilFile(parts: AsyncGenerator<FormPart>) {
  const values: Record<string, string> = {}
  for (let next = await parts.next(); !next.done; next = await parts.next()) {
    const part = next.value
    if (part.kind === 'file') {
      const { data: fields, error } = UploadFields.safeParse(values)
      if (error) throw refusalOf(error)
      return { fields, file: part }
    }
    if (part.name === 'metadata') values.metadata = part.value
  }
  throw refusal('file', 'is required: a form field with the file, after the field metadata')
}

interface NewFile {
  collection: string
  metadata: Metadata
  /** As the document has it, if undefined. */
  access: string[] | null | undefined
  file: FilePart
}

/** The form of a new document. The bytes of the file are still to be read from `parts`. */
async function* formOf(
  { collection, metadata, access, file }: NewFile,
  parts: AsyncGenerator<FormPart>,
): AsyncGenerator<FormPart> {
  yield { kind: 'field', name: 'collection', value: collection }
  yield { kind: 'field', name: 'metadata', value: JSON.stringify(metadata) }
  if (access !== undefined) yield { kind: 'field', name: 'access', value: JSON.stringify(access) }
  yield file
  for await (const part of parts) if (part.kind === 'file') yield part
}

function isBeingReplaced({ servedRevision, revision }: Document): boolean {
  return servedRevision !== undefined && servedRevision < revision
}
