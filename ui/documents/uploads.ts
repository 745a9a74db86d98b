import { computed, signal } from '@preact/signals'
import {
  AgentServerError,
  type DocumentBatchResult,
} from '../../packages/client/src/agent-server.ts'
import { randomKey } from '../../packages/client/src/retry.ts'
import { client, messageOf, uploadingClient } from '../api.ts'
import { onSignOut } from '../session.ts'
import { guardUnsaved } from '../unsaved.ts'

/** Sent at the same time: the server takes 16 in all, and a browser has six connections to one server. */
const MAX_PARALLEL = 5
/** Files that go up together: what the server takes in one request is more. */
const BATCH = { files: 20, fileBytes: 500_000, bytes: 4_000_000 }
/** Taken at once; a larger folder is what `npm run ingest` is for. */
export const MAX_FILES = 10_000
/** How often the client retries a busy server, after the wait that it names. */
const MAX_RETRIES = 8

type SendResult = DocumentBatchResult['results'][number]

/** The conversation that files belong to; `arrived` is awaited for each that has become a document. */
interface UploadTarget {
  conversation: string
  arrived: () => Promise<void>
}

export interface Upload {
  id: number
  /** The same for each attempt, so that it becomes one document. */
  key: string
  /** With the folders that it was found in. */
  path: string
  file: File
  state: 'waiting' | 'sending' | 'sent' | 'failed' | 'cancelled'
  sentBytes: number
  failure: string
  to: UploadTarget | undefined
  /** Empty for the default one. */
  collection: string
  /** The document created from it. */
  documentId?: string
  /** Another document that has the same file. */
  sameFile?: string
  /** Whether it is not sent together with others again: the server has no room, or a proxy takes less. */
  isAlone?: boolean
}

/** Newest state of every file of this visit; the web UI shows those in work and those that failed. */
export const uploads = signal<readonly Upload[]>([])
guardUnsaved(computed(() => uploads.value.some(isOpen)))
/** The uploads that belong to no conversation. */
export const documentUploads = computed(() => uploads.value.filter(({ to }) => !to))
/** Increases with each file that became a document, so that lists of documents reload. */
export const arrivals = signal(0)

interface Running {
  batch: readonly Upload[]
  controller: AbortController
}

const running = new Set<Running>()
const waiting: Upload[] = []
let lastId = 0

onSignOut(() => {
  cancelAll(uploads.value)
  uploads.value = []
  uploadCollection.value = ''
})

/** A file as it was dropped or chosen, with its place in a folder. */
export interface ChosenFile {
  path: string
  file: File
}

/** The collection that documents are added to; empty for the default one. */
export const uploadCollection = signal('')

/** Puts files into the queue; answers how many were too many. */
export function addFiles(files: readonly ChosenFile[], to?: UploadTarget): number {
  const open = uploads.value.filter(isOpen).length
  const accepted = files.slice(0, Math.max(MAX_FILES - open, 0))
  const added = accepted.map(({ path, file }): Upload => {
    lastId += 1
    return {
      id: lastId,
      key: randomKey(),
      path,
      file,
      to,
      collection: to ? '' : uploadCollection.value,
      state: 'waiting',
      sentBytes: 0,
      failure: '',
    }
  })
  uploads.value = [
    ...uploads.value.filter((one) => isOpen(one) || one.state === 'failed' || one.sameFile),
    ...added,
  ]
  waiting.push(...added)
  startNext()
  return files.length - accepted.length
}

export function isOpen({ state }: Upload): boolean {
  return state === 'waiting' || state === 'sending'
}

export function cancelAll(of: readonly Upload[]): void {
  for (const one of of) if (isOpen(one)) cancel(one.id)
}

export function cancel(id: number): void {
  const place = waiting.findIndex((one) => one.id === id)
  if (place !== -1) waiting.splice(place, 1)
  update(new Set([id]), () => ({ state: 'cancelled' }))
  const request = [...running].find(({ batch }) => batch.some((one) => one.id === id))
  request?.controller.abort(new Error('Cancelled'))
}

/** Sends again what failed. */
export function retryFailed(of: readonly Upload[]): void {
  queueAgain(of.filter(({ state }) => state === 'failed'))
  startNext()
}

/** Deletes the documents of files that already existed; throws the server's errors. */
export async function dropCopies(copies: readonly Upload[]): Promise<void> {
  for (const { id, documentId } of copies) {
    if (documentId !== undefined) await client.documents.delete(documentId)
    keepCopies([id])
    arrivals.value += 1
  }
}

/** Says no more that these were there already. */
export function keepCopies(ids: readonly number[]): void {
  uploads.value = uploads.value.map((one) => {
    const { sameFile: _, ...rest } = one
    return ids.includes(one.id) ? rest : one
  })
}

/** Removes finished uploads from the list. */
export function clearFinished(of: readonly Upload[]): void {
  uploads.value = uploads.value.filter((one) => isOpen(one) || !of.includes(one))
}

function queueAgain(these: readonly Upload[], change: Partial<Upload> = {}): void {
  const queued: Partial<Upload> = { state: 'waiting', sentBytes: 0, failure: '', ...change }
  update(idsOf(these), () => queued)
  waiting.unshift(...these.map((one) => ({ ...one, ...queued })))
}

function startNext(): void {
  while (running.size < MAX_PARALLEL && waiting.length > 0) void send(takeNext())
}

/** One file, or small ones that go up together; fewer where that would leave connections without work. */
function takeNext(): Upload[] {
  const most = Math.min(BATCH.files, Math.ceil(waiting.length / MAX_PARALLEL))
  let bytes = 0
  const tooMuch = waiting.slice(0, most).findIndex(({ file: { size }, isAlone }) => {
    bytes += size
    return isAlone || size > BATCH.fileBytes || bytes > BATCH.bytes
  })
  return waiting.splice(0, tooMuch === -1 ? most : Math.max(tooMuch, 1))
}

async function send(batch: readonly Upload[]): Promise<void> {
  const request = { batch, controller: new AbortController() }
  running.add(request)
  const ids = idsOf(batch)
  update(ids, () => ({ state: 'sending' }))
  const { signal: cancelled } = request.controller
  try {
    const results = await sendFiles(batch, cancelled)
    for (const [index, one] of batch.entries()) await settle(one, results[index])
  } catch (error) {
    const left = uploads.value.filter((one) => ids.has(one.id) && one.state === 'sending')
    if (cancelled.aborted) queueAgain(left)
    else if (left.length > 1 && isAnswer(error)) queueAgain(left, { isAlone: true })
    else update(idsOf(left), () => ({ state: 'failed', failure: failureOf(messageOf(error)) }))
  }
  running.delete(request)
  startNext()
}

const isAnswer = (error: unknown) => error instanceof AgentServerError && error.status !== undefined

/** Without the name of the field, which is the server's word. */
const failureOf = (message: string) => message.replace(/^file: /, 'The file ')

async function settle(one: Upload, result: SendResult | undefined): Promise<void> {
  if (!result || !('id' in result)) {
    // What the queue has no room for waits until it has, which the client does for one file.
    if (result?.error.code === 'queue_full') return queueAgain([one], { isAlone: true })
    const failure = failureOf(result?.error.message ?? '')
    return update(idsOf([one]), () => ({ state: 'failed', failure }))
  }
  await one.to?.arrived()
  const { id: documentId, status, error, sameFile } = result
  const isRefused = status === 'failed' && !one.to
  const failure = isRefused ? (error?.message ?? 'The file cannot be read.') : ''
  update(idsOf([one]), () => ({
    state: isRefused ? 'failed' : 'sent',
    sentBytes: one.file.size,
    failure,
    documentId,
    ...(sameFile !== undefined && { sameFile }),
  }))
  arrivals.value += 1
}

/** Sends one file as a stream, or several in one form. */
async function sendFiles(batch: readonly Upload[], signal: AbortSignal): Promise<SendResult[]> {
  const { documents } = uploadingClient((sent) => showSent(batch, sent))
  const [first] = batch
  const options = { signal, maxRetries: MAX_RETRIES }
  if (!first || batch.length > 1) return documents.uploadBatch(batch.map(requestFor), options)
  return [await documents.upload(first.file, { ...requestFor(first), ...options })]
}

function requestFor({ file, path, to, key, collection }: Upload) {
  const isInFolder = path.includes('/')
  return {
    file,
    idempotencyKey: key,
    ...(to && { conversation: to.conversation }),
    ...(collection !== '' && { collection }),
    // To filter by, and to tell apart files of one name.
    ...(isInFolder && { metadata: { path: path.slice(0, 500) } }),
  }
}

/** Files of a form go up one after the other. */
function showSent(batch: readonly Upload[], sent: number): void {
  const before = new Map<number, number>()
  let bytes = 0
  for (const { id, file } of batch) {
    before.set(id, bytes)
    bytes += file.size
  }
  update(before, ({ id, file }) => ({
    sentBytes: Math.min(Math.max(sent - (before.get(id) ?? 0), 0), file.size),
  }))
}

const idsOf = (these: readonly Upload[]) => new Set(these.map(({ id }) => id))

function update(
  ids: Pick<ReadonlySet<number>, 'has'>,
  change: (one: Upload) => Partial<Upload>,
): void {
  uploads.value = uploads.value.map((one) => (ids.has(one.id) ? { ...one, ...change(one) } : one))
}
