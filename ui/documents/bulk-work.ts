import { signal } from '@preact/signals'
import type { Document } from '../../packages/client/src/agent-server.ts'
import { client, messageOf } from '../api.ts'
import { counted, formatNumber } from '../format.ts'
import { onSignOut } from '../session.ts'

/** Requests at the same time; browsers send six to one server. */
const MAX_PARALLEL = 4
/** Size of an export, which is put together in the browser. */
const MAX_EXPORT_CHARACTERS = 200_000_000

interface BulkWork {
  /** `Deleting`. */
  name: string
  total: number
  done: number
}

/** What is being done to many documents, if anything. */
export const bulkWork = signal<BulkWork | undefined>(undefined)
let stopping: AbortController | undefined

export const stopBulkWork = () => stopping?.abort()
onSignOut(stopBulkWork)

/** Does one thing to each; answers in words what could not be done or was left, and nothing if all went well. */
export async function doToAll(
  name: string,
  documents: readonly Document[],
  act: (document: Document, signal: AbortSignal) => PromiseLike<unknown>,
): Promise<string> {
  stopping = new AbortController()
  const { signal: stopped } = stopping
  const failures: string[] = []
  const left = [...documents]
  let done = 0
  bulkWork.value = { name, total: documents.length, done: 0 }
  const work = async () => {
    for (let next = left.shift(); next && !stopped.aborted; next = left.shift()) {
      try {
        await act(next, stopped)
      } catch (error) {
        if (stopped.aborted) return
        failures.push(messageOf(error))
      }
      done += 1
      bulkWork.value = { name, total: documents.length, done }
    }
  }
  await Promise.all(Array.from({ length: MAX_PARALLEL }, work))
  bulkWork.value = undefined
  const [first] = failures
  if (first === undefined && done < documents.length) {
    return `Stopped after ${formatNumber(done)} of ${counted(documents.length, 'document')}.`
  }
  return first === undefined
    ? ''
    : `${formatNumber(failures.length)} of ${counted(documents.length, 'document')} failed: ${first}`
}

/** Failures that lie in the file or text itself: another attempt ends the same way. */
const OF_THE_CONTENT: ReadonlySet<string> = new Set([
  'empty_document',
  'unsupported_file',
  'encrypted_file',
  'damaged_file',
  'file_too_complex',
  'text_too_long',
])

/** Whether another attempt could end otherwise. */
export function canRetry({ status, error }: Pick<Document, 'status' | 'error'>): boolean {
  return status === 'failed' && !OF_THE_CONTENT.has(error?.code ?? '')
}

/** Documents as lines of JSON, which `POST /documents/batch` takes again. Also answers what is missing. */
export async function exportDocuments(
  documents: readonly Document[],
): Promise<{ lines: Blob; failure: string }> {
  const lines: string[] = []
  let characters = 0
  const failure = await doToAll('Exporting', documents, async (document, signal) => {
    if (characters > MAX_EXPORT_CHARACTERS) throw new Error('The export is too large.')
    const { id, title, url, metadata } = document
    const text = await client.documents.text(id, { signal })
    characters += text.length
    lines.push(`${JSON.stringify({ id, title, url, metadata, text })}\n`)
  })
  return { lines: new Blob(lines, { type: 'application/x-ndjson' }), failure }
}
