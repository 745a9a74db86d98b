import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { unescape as decodePath } from 'node:querystring'
import { toStorable } from '@agent-server/lib/fields.ts'
import { encodingOf, mediaTypeOfUpload } from '@agent-server/readers'
import { intervalMs } from '@agent-server/schemas/new-document.ts'
import type { DocumentStore, NewFile, StoredSource } from '@agent-server/stores'
import { extension } from 'mime-types'
import { FetchError, type FetchPage, NOT_MODIFIED } from './fetch-page.ts'

/** The maximum share of an interval that is added at random, so that pages added together drift apart. */
const JITTER = 0.1
const TITLE_SAMPLE_BYTES = 65_536
const MAX_TITLE = 1_000
const MAX_NAME = 200
const PAGE_TYPES = ['text/html', 'application/xhtml+xml']

type StagedFiles = Pick<DocumentStore, 'stageFile' | 'dropStaged'>

type StoredState = Pick<StoredSource, 'url' | 'title' | 'refresh'> & Partial<StoredSource>

interface Fetched {
  /** Absent if it equals what is stored already. */
  file: NewFile | undefined
  title: string
  url: string
  source: StoredSource
}

const EMPTY = 'The response was empty'

/** Fetches the current content of a source, and stages it if it differs from what is stored. */
export function createFetchContent(store: StagedFiles, fetchPage: FetchPage) {
  return (stored: StoredState, signal: AbortSignal): Promise<Fetched> =>
    fetchPage.get(
      stored.url,
      conditionsOf(stored),
      (response) => readAnswer(store, stored, response),
      signal,
    )
}

async function readAnswer(
  store: StagedFiles,
  stored: StoredState,
  response: Response,
): Promise<Fetched> {
  const { url } = stored
  const source = sourceAfter(stored, response)
  if (response.status === NOT_MODIFIED) return { url, title: '', file: undefined, source }
  if (!response.body) throw new FetchError('fetch_failed', EMPTY)
  const { file, sample, digest } = await stage(store, response)
  const isSame = digest === stored.digest
  if (isSame || file.size === 0) await store.dropStaged(file.number)
  if (file.size === 0) throw new FetchError('fetch_failed', EMPTY)
  const title = stored.title ?? (await titleOf(sample, file.mediaType)) ?? file.name
  return { url, title, file: isSame ? undefined : file, source: { ...source, digest } }
}

function conditionsOf({ etag, lastModified }: StoredState): Record<string, string> {
  return {
    ...(etag !== undefined && { 'if-none-match': etag }),
    ...(lastModified !== undefined && { 'if-modified-since': lastModified }),
  }
}

/** The source to store after a usable response. */
function sourceAfter(stored: StoredState, { status, headers }: Response): StoredSource {
  const { url, title, refresh, digest = '' } = stored
  const isSame = status === NOT_MODIFIED
  return {
    url,
    title,
    refresh,
    digest,
    status,
    failures: 0,
    fetchedAt: Date.now(),
    etag: headers.get('etag') ?? (isSame ? stored.etag : undefined),
    lastModified: headers.get('last-modified') ?? (isSame ? stored.lastModified : undefined),
    dueAt: refresh === undefined ? undefined : afterAbout(intervalMs(refresh)),
  }
}

/** The time in about `milliseconds` from now, or a little later. */
export function afterAbout(milliseconds: number): number {
  return Math.round(Date.now() + milliseconds * (1 + Math.random() * JITTER))
}

/** A file name; its extension comes from the content type if the address has no usable one. */
function describe({ url, headers }: Response) {
  const { pathname, hostname } = new URL(url)
  const last = basename(decodePath(pathname)).slice(-MAX_NAME)
  const declared = headers.get('content-type') ?? undefined
  const plain = declared?.split(';')[0]?.trim().toLowerCase() ?? ''
  const ending = extension(plain)
  const isNamed = /\.\w{1,8}$/.test(last) && !PAGE_TYPES.includes(plain)
  const stem = toStorable(last || hostname)
  const name = isNamed || !ending ? stem : `${stem.replace(/\.x?html?$/i, '')}.${ending}`
  return { name, mediaType: mediaTypeOfUpload(name, declared) }
}

/** Stages the body of a response; returns its first bytes and the digest of the whole. */
async function stage(store: StagedFiles, response: Response) {
  const hash = createHash('sha256')
  const first: Uint8Array[] = []
  let bytes = 0
  const watched = async function* () {
    for await (const piece of response.body ?? []) {
      hash.update(piece)
      if (bytes < TITLE_SAMPLE_BYTES) first.push(piece)
      bytes += piece.length
      yield piece
    }
  }
  const staged = await store.stageFile(watched())
  const sample = Buffer.concat(first).subarray(0, TITLE_SAMPLE_BYTES)
  const digest = hash.digest()
  const file = { ...staged, ...describe(response), sha256: digest.toString('hex') }
  return { file, sample, digest: digest.toString('base64url') }
}

/** The title of a page, if it has one. */
async function titleOf(start: Buffer, mediaType: string): Promise<string | undefined> {
  if (!PAGE_TYPES.includes(mediaType)) return undefined
  const { DomUtils, parseDocument } = await import('htmlparser2')
  const page = parseDocument(new TextDecoder((await encodingOf(start)) ?? 'utf-8').decode(start))
  const [element] = DomUtils.getElementsByTagName('title', page, true, 1)
  const title = element ? DomUtils.textContent(element) : ''
  return toStorable(title.replaceAll(/\s+/g, ' ').trim()).slice(0, MAX_TITLE) || undefined
}
