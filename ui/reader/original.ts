import { type Document, NotFoundError } from '../../packages/client/src/agent-server.ts'
import { client } from '../api.ts'
import { onSignOut } from '../session.ts'
import type { Pdf } from './pdf.ts'

/** Larger files are offered for download only. */
const MAX_BYTES = 100_000_000
const PICTURES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/bmp']

export type OriginalKind = 'pdf' | 'picture'

/** The file that a document was sent as, ready to be shown; a picture as an address within this page. */
type Original = { pdf: Pdf } | { picture: string }

/** Why an original is not shown, in words for people. */
export class NotShownError extends Error {}

/** Undefined for files that are shown as text only. */
export function originalKind({ file }: Document): OriginalKind | undefined {
  if (file?.mediaType === 'application/pdf') return 'pdf'
  return file && PICTURES.includes(file.mediaType) ? 'picture' : undefined
}

/** The original that was opened last, for the next citation of the same document. */
let last: { key: string; original: Promise<Original>; close: () => void } | undefined
onSignOut(closeLast)

/** Downloads and opens the original of a document. Throws `NotShownError`, and what the client throws. */
export function openOriginal(document: Document): Promise<Original> {
  const key = `${document.id} ${document.servedRevision}`
  if (last?.key === key) return last.original
  closeLast()
  const leaving = new AbortController()
  const original = open(document, leaving.signal)
  const close = () => {
    leaving.abort()
    original.then(closeOriginal, () => undefined)
  }
  last = { key, original, close }
  original.catch(() => {
    if (last?.original === original) last = undefined
  })
  return original
}

function closeLast(): void {
  last?.close()
  last = undefined
}

function closeOriginal(original: Original): void {
  if ('pdf' in original) original.pdf.close()
  else URL.revokeObjectURL(original.picture)
}

async function open(document: Document, signal: AbortSignal): Promise<Original> {
  const bytes = await download(document, signal)
  if (originalKind(document) === 'pdf') {
    // Loaded when the first PDF is opened.
    const { openPdf } = await import('./pdf.ts')
    return { pdf: await openPdf(bytes, signal) }
  }
  const type = document.file?.mediaType ?? ''
  return { picture: URL.createObjectURL(new Blob([bytes], { type })) }
}

async function download({ id, file }: Document, signal: AbortSignal) {
  if ((file?.size ?? 0) > MAX_BYTES) throw tooLarge()
  const response = await client.documents.file(id, { signal }).catch((error: unknown) => {
    if (!(error instanceof NotFoundError)) throw error
    throw new NotShownError('The original file no longer exists.')
  })
  const reader = response.body?.getReader()
  const parts: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  for (;;) {
    const { value } = (await reader?.read()) ?? {}
    if (!value) return new Uint8Array(await new Blob(parts).arrayBuffer())
    size += value.length
    if (size > MAX_BYTES) {
      await reader?.cancel()
      throw tooLarge()
    }
    parts.push(value)
  }
}

const tooLarge = () =>
  new NotShownError(`The original is larger than ${MAX_BYTES / 1e6} MB and is not shown here.`)
