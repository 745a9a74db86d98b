import { isFileName, type SandboxFile } from '@agent-server/sandboxes'
import type { ArtifactStore, DocumentStore, FileStore, StoredDocument } from '@agent-server/stores'
import { type ToolContext, ToolInputError } from './define-tool.ts'

const HIT_NUMBER = /^\[?(\d{1,4})\]?$/
const ARTIFACT = /^art_/

interface Dependencies {
  documents: Pick<DocumentStore, 'get'> & Pick<FileStore, 'readFile'>
  artifacts: Pick<ArtifactStore, 'read'>
}

type Scope = Pick<ToolContext, 'citations' | 'visibility' | 'owner'>
export type ReadToolFiles = ReturnType<typeof createToolFiles>

/**
 * Reads the files that a call names: documents by id or by the number of a chunk, artifacts by id. Throws
 * `ToolInputError` if one does not exist or together they exceed `maximumBytes`.
 */
export function createToolFiles({ documents, artifacts }: Dependencies) {
  async function read(name: string, scope: Scope, most: number): Promise<SandboxFile> {
    if (ARTIFACT.test(name)) return readArtifact(name, scope)
    const { id, file } = await findDocument(documents, name, scope, 'files')
    if (!file) {
      throw new ToolInputError(`files: the document "${name}" was sent as text, it has no file`)
    }
    if (file.size > most) throw tooLarge(most)
    const pieces = await documents.readFile(scope.visibility, id)
    if (!pieces) throw new ToolInputError(`files: the file of "${name}" no longer exists`)
    return { name: file.name, bytes: Buffer.concat(await Array.fromAsync(pieces)) }
  }

  async function readArtifact(id: string, { owner }: Scope): Promise<SandboxFile> {
    const file = await artifacts.read(id, owner)
    if (!file) throw new ToolInputError(`files: there is no artifact "${id}", or no longer`)
    return { name: file.artifact.name, bytes: file.bytes }
  }

  return async (names: readonly string[], scope: Scope, maximumBytes: number) => {
    const files: SandboxFile[] = []
    let remaining = maximumBytes
    for (const name of new Set(names)) {
      const file = await read(name, scope, remaining)
      remaining -= file.bytes.byteLength
      if (remaining < 0) throw tooLarge(maximumBytes)
      files.push({ ...file, name: freeName(file.name, files) })
    }
    return files
  }
}

/** Failures after which the file is still usable: a form may have fields but no text, code can read a picture. */
const HARMLESS: readonly unknown[] = ['empty_document', 'unsupported_file']

/** Why tools cannot open a document: ingestion has not read it yet, or failed. Undefined if they can. */
export function unservedReason(document: StoredDocument): string | undefined {
  const { id, status, error, servedRevision } = document
  if (servedRevision !== undefined || HARMLESS.includes(error?.code)) return undefined
  return `the document "${id}" cannot be opened: it is ${status}, not ready`
}

/**
 * The document that a call names by its id or by the number of a passage. Throws `ToolInputError` if it does not exist
 * or cannot be opened.
 */
export async function findDocument(
  documents: Pick<DocumentStore, 'get'>,
  name: string,
  scope: Scope,
  field: string,
): Promise<StoredDocument> {
  const document = await documents.get(scope.visibility, documentId(name, scope, field))
  const mistake = document ? unservedReason(document) : `there is no document "${name}"`
  if (!document || mistake) throw new ToolInputError(`${field}: ${mistake}`)
  return document
}

function documentId(name: string, scope: Scope, field: string): string {
  const number = HIT_NUMBER.exec(name)?.[1]
  if (number !== undefined) {
    const hit = scope.citations.all()[Number(number) - 1]
    if (!hit) throw new ToolInputError(`${field}: there is no passage ${number}`)
    return hit.documentId
  }
  return name
}

const tooLarge = (most: number) =>
  new ToolInputError(`files: more than ${most} bytes; take fewer or smaller ones`)

/** The file's name, without characters not allowed in a path; made unique by a number if it is taken. */
function freeName(fileName: string, files: readonly SandboxFile[]): string {
  const plain = fileName.replaceAll(/[\p{C}\\/]/gu, '_').replace(/^\.+/, '')
  const name = isFileName(plain) ? plain : `file${/\.\w{1,8}$/.exec(plain)?.[0] ?? ''}`
  let free = name
  for (let number = 2; files.some((file) => file.name === free); number++)
    free = `${number}-${name}`
  return free
}
