import { createHash } from 'node:crypto'
import { createReadStream, openAsBlob } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { z } from 'zod'
import { Document, DocumentCreated } from '../../schemas/document.ts'
import { ErrorBody } from '../../schemas/error.ts'
import type { Metadata } from '../../schemas/metadata.ts'

const REQUEST_MS = 300_000
/** How long a busy server, or one that is being restarted, is asked again. */
const MAX_WAIT_MS = 600_000
const MAX_BREAKS = 5
const MAX_PAUSE_SECONDS = 60
const BUSY_STATUSES = [429, 503]

/** Why a file did not become a document; `message` may be shown. */
export class FileRefusal extends Error {
  override readonly name = 'FileRefusal'
}

const Seen = Document.pick({ status: true, error: true, metadata: true })
export type Seen = z.output<typeof Seen>

export interface ServerClient {
  /** Nothing where there is no such document. */
  get(id: string, signal: AbortSignal): Promise<Seen | undefined>
  /** Waits some seconds for the document to be `ready` or `failed`. Throws `FileRefusal`. */
  put(document: FileDocument, signal: AbortSignal): Promise<z.output<typeof DocumentCreated>>
}

interface ClientOptions {
  /** Where the server is, without a slash at the end. */
  url: string
  key: string
  waitSeconds?: number
  maxWaitMs?: number
}

/** Talks to a running server; waits where it is busy, and asks again where the connection breaks. */
export function createServerClient(options: ClientOptions): ServerClient {
  const { url, key, waitSeconds = 20, maxWaitMs = MAX_WAIT_MS } = options
  const headers = { authorization: `Bearer ${key}`, 'user-agent': 'agent-server-ingest' }

  const send = async (
    path: string,
    request: () => Promise<RequestInit>,
    signal: AbortSignal,
  ): Promise<Response> => {
    const deadline = performance.now() + maxWaitMs
    for (let breaks = 0; ; ) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)])
      const { headers: more, ...rest } = await request()
      const response = await fetch(`${url}${path}`, {
        ...{ ...rest, headers: { ...headers, ...more }, signal: limit },
      }).catch((error: unknown) => {
        signal.throwIfAborted()
        if (breaks >= MAX_BREAKS || performance.now() > deadline) throw unreachable(url, error)
      })
      if (response && !isBusy(response, deadline)) return response
      await response?.body?.cancel()
      const seconds = response ? retryAfter(response) : 2 ** breaks++ / 2
      await pause(seconds * 1_000, undefined, { signal })
    }
  }

  return {
    async get(id, signal) {
      const response = await send(`/documents/${id}`, async () => ({}), signal)
      if (response.ok) return read(response, Seen)
      const { code, message } = await refusalOf(response)
      if (code === 'document_not_found') return undefined
      throw new FileRefusal(`${code}: ${message}`)
    },

    async put(document, signal) {
      const request = async () => {
        const body = await document.body()
        if ('form' in body) return { method: 'PUT', body: body.form }
        const type = { 'content-type': 'application/json' }
        return { method: 'PUT', headers: type, body: JSON.stringify(body.json) }
      }
      const path = `/documents/${document.id}?wait=${waitSeconds}`
      const response = await send(path, request, signal)
      if (response.ok) return read(response, DocumentCreated)
      const { code, message } = await refusalOf(response)
      throw new FileRefusal(`${code}: ${message}`)
    },
  }
}

function isBusy({ status }: Response, deadline: number): boolean {
  return BUSY_STATUSES.includes(status) && performance.now() < deadline
}

function retryAfter({ headers }: Response): number {
  const seconds = Number(headers.get('retry-after') ?? 1)
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), MAX_PAUSE_SECONDS) : 1
}

async function read<Schema extends z.ZodType>(response: Response, schema: Schema) {
  const result = schema.safeParse(await response.json().catch(() => undefined))
  if (result.success) return result.data
  throw new Error(`${new URL(response.url).origin} is no Agent Server`)
}

async function refusalOf(response: Response): Promise<{ code: string; message: string }> {
  const body = ErrorBody.safeParse(await response.json().catch(() => undefined))
  if (!body.success) return { code: String(response.status), message: 'not an Agent Server?' }
  const { code, message } = body.data.error
  if (code === 'unauthorized') throw new Error('The server refuses the key: look at SERVER_API_KEY')
  return { code, message }
}

function unreachable(url: string, cause: unknown): Error {
  return new Error(`There is no server at ${url}, or it does not answer`, { cause })
}

/** What is text as it is; everything else the server reads as the file that it is. */
const TEXT_EXTENSIONS = ['.txt', '.text', '.md', '.markdown', '.rst', '.adoc', '.org', '.log']
/** A larger one is sent as a file, which is never in memory whole. */
const LARGEST_TEXT_BYTES = 4_000_000
const MAX_SLUG = 100
const HASH_CHARACTERS = 16
/** As long as a value of the metadata may be. */
const MAX_PATH = 500

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
  const all = { ...metadata, [PATH]: path.slice(-MAX_PATH), [DIGEST]: digest }
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
  return `${slug.slice(-MAX_SLUG).replace(/^[^A-Za-z0-9]+/, '') || 'file'}-${hash}`
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
