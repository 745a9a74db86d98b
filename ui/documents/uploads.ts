import { computed, signal } from '@preact/signals'
import type { DocumentCreated } from '../../client/src/agent-server.ts'
import { client, messageOf, uploadingClient } from '../api.ts'
import { onSignOut } from '../session.ts'

/** Sent at the same time: the server takes 16 in all, and a browser has six connections to one server. */
const MAX_PARALLEL = 5
/** Taken at once; a larger folder is what `npm run ingest` is for. */
export const MAX_FILES = 10_000
/** Times that a busy server is asked again by the client, after the wait that it names. */
const MAX_RETRIES = 8

/** The conversation that files belong to; `arrived` is awaited for each that has become a document. */
export interface UploadTarget {
  conversation: string
  arrived: () => Promise<void>
}

export interface Upload {
  id: number
  /** With the folders that it was found in. */
  path: string
  file: File
  state: 'waiting' | 'sending' | 'sent' | 'failed' | 'cancelled'
  sentBytes: number
  failure: string
  to: UploadTarget | undefined
  /** The document that was made of it. */
  documentId?: string
  /** Another document that has the same file. */
  sameFile?: string
}

/** Newest state of every file of this visit; the web UI shows those in work and those that failed. */
export const uploads = signal<readonly Upload[]>([])
/** Those that belong to no conversation. */
export const documentUploads = computed(() => uploads.value.filter(({ to }) => !to))
/** Grows with each file that has become a document, for whoever shows documents. */
export const arrivals = signal(0)

const running = new Map<number, AbortController>()
const waiting: number[] = []
let lastId = 0

onSignOut(() => {
  cancelAll(uploads.value)
  uploads.value = []
})

/** A file as it was dropped or chosen, with its place in a folder. */
export interface ChosenFile {
  path: string
  file: File
}

/** Puts files into the queue; answers how many were too many. */
export function addFiles(files: readonly ChosenFile[], to?: UploadTarget): number {
  const open = uploads.value.filter(isOpen).length
  const taken = files.slice(0, Math.max(MAX_FILES - open, 0))
  const added = taken.map(({ path, file }): Upload => {
    lastId += 1
    waiting.push(lastId)
    return { id: lastId, path, file, to, state: 'waiting', sentBytes: 0, failure: '' }
  })
  uploads.value = [
    ...uploads.value.filter((one) => isOpen(one) || one.state === 'failed' || one.sameFile),
    ...added,
  ]
  startNext()
  return files.length - taken.length
}

export const isOpen = ({ state }: Upload) => state === 'waiting' || state === 'sending'

export function cancelAll(of: readonly Upload[]): void {
  for (const one of of) if (isOpen(one)) cancel(one.id)
}

export function cancel(id: number): void {
  const place = waiting.indexOf(id)
  if (place !== -1) waiting.splice(place, 1)
  update(id, { state: 'cancelled' })
  running.get(id)?.abort(new Error('Cancelled'))
}

/** Sends again what failed. */
export function retryFailed(of: readonly Upload[]): void {
  const failed = of.filter(({ state }) => state === 'failed')
  for (const { id } of failed) {
    update(id, { state: 'waiting', sentBytes: 0, failure: '' })
    waiting.push(id)
  }
  startNext()
}

/** Deletes the documents that were made of files that were there already; throws what the server says. */
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

/** Forgets what is over. */
export function clearFinished(of: readonly Upload[]): void {
  uploads.value = uploads.value.filter((one) => isOpen(one) || !of.includes(one))
}

function startNext(): void {
  while (running.size < MAX_PARALLEL && waiting.length > 0) {
    const id = waiting.shift()
    const next = uploads.value.find((one) => one.id === id)
    if (next) void send(next)
  }
}

async function send({ id, file, path, to }: Upload): Promise<void> {
  const controller = new AbortController()
  running.set(id, controller)
  update(id, { state: 'sending' })
  try {
    const upload = { file, path, conversation: to?.conversation, signal: controller.signal }
    const created = await sendFile(upload, (sentBytes) =>
      update(id, { sentBytes: Math.min(sentBytes, file.size) }),
    )
    await to?.arrived()
    const isRefused = created.status === 'failed' && !to
    const failure = isRefused ? (created.error?.message ?? 'The file cannot be read.') : ''
    const { id: documentId, sameFile } = created
    update(id, {
      state: isRefused ? 'failed' : 'sent',
      sentBytes: file.size,
      failure,
      documentId,
      ...(sameFile !== undefined && { sameFile }),
    })
    arrivals.value += 1
  } catch (error) {
    // Of the field that held it, which is the server's word.
    const failure = messageOf(error).replace(/^file: /, 'The file ')
    if (!controller.signal.aborted) update(id, { state: 'failed', failure })
  }
  running.delete(id)
  startNext()
}

interface SentFile {
  file: File
  path: string
  conversation: string | undefined
  signal: AbortSignal
}

function sendFile(
  { file, path, conversation, signal }: SentFile,
  onProgress: (sent: number) => void,
): Promise<DocumentCreated> {
  const isInFolder = path.includes('/')
  return Promise.resolve(
    uploadingClient(onProgress).documents.upload(file, {
      signal,
      ...(conversation !== undefined && { conversation }),
      maxRetries: MAX_RETRIES,
      // To filter by, and to tell apart files of one name.
      ...(isInFolder && { metadata: { path: path.slice(0, 500) } }),
    }),
  )
}

function update(id: number, change: Partial<Upload>): void {
  uploads.value = uploads.value.map((one) => (one.id === id ? { ...one, ...change } : one))
}
