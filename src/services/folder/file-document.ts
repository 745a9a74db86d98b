import { createHash } from 'node:crypto'
import { createReadStream, openAsBlob } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import type { Metadata } from '../../schemas/metadata.ts'

/** What is text as it is; everything else the server reads as the file that it is. */
const TEXT_EXTENSIONS = ['.txt', '.text', '.md', '.markdown', '.rst', '.adoc', '.org', '.log']
/** A larger one is sent as a file, which is never in memory whole. */
const LARGEST_TEXT_BYTES = 4_000_000
const LONGEST_SLUG = 100
const HASH_CHARACTERS = 16
/** As long as a value of the metadata may be. */
const LONGEST_PATH = 500

/** A file as the document that it becomes. */
export interface FileDocument {
  /** The same for the same path, whatever the file holds. */
  id: string
  title: string
  /** With where it comes from, and what it held, so that a second run can tell whether it has changed. */
  metadata: Metadata
  digest: string
  body(): Promise<{ json: object } | { form: FormData }>
}

/** The name of the metadata that holds the digest of what was sent. */
export const DIGEST = 'source_digest'
const PATH = 'source_path'

/** `path` tells the file from all others that are ever sent; `metadata` is added to it. */
export async function describeFile(
  file: string,
  path: string,
  metadata: Metadata,
): Promise<FileDocument> {
  const { hash, size } = await hashFile(file)
  const title = basename(path)
  const digest = createHash('sha256')
    .update(JSON.stringify([hash, path, Object.entries(metadata).sort()]))
    .digest('base64url')
  const all = { ...metadata, [PATH]: path.slice(-LONGEST_PATH), [DIGEST]: digest }
  const isText = TEXT_EXTENSIONS.includes(extname(path).toLowerCase())

  return {
    ...{ id: documentId(path), title, metadata: all, digest },
    async body() {
      const text = isText && size <= LARGEST_TEXT_BYTES ? await readText(file) : undefined
      if (text !== undefined) return { json: { text, title, metadata: all } }
      const form = new FormData()
      form.set('title', title)
      form.set('metadata', JSON.stringify(all))
      form.set('file', await openAsBlob(file), title)
      return { form }
    },
  }
}

function documentId(path: string): string {
  const hash = createHash('sha256').update(path).digest('hex').slice(0, HASH_CHARACTERS)
  const slug = path.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  return `${slug.slice(-LONGEST_SLUG).replace(/^[^A-Za-z0-9]+/, '') || 'file'}-${hash}`
}

async function hashFile(file: string) {
  const hash = createHash('sha256')
  let size = 0
  for await (const part of createReadStream(file)) {
    hash.update(part)
    size += part.length
  }
  return { hash: hash.digest('hex'), size }
}

/** Nothing where it is no UTF-8, which is for the server to decode. */
async function readText(file: string): Promise<string | undefined> {
  const handle = await open(file)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await handle.readFile())
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  } finally {
    await handle.close()
  }
}
