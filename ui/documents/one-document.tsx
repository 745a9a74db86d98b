import type { Signal } from '@preact/signals'
import type { Document } from '../../client/src/agent-server.ts'
import { client, messageOf } from '../api.ts'
import { Status, type Tone } from '../parts/notes.tsx'

const MARKS: Record<Document['status'], { tone: Tone; word: string }> = {
  ready: { tone: 'good', word: 'Ready' },
  pending: { tone: 'off', word: 'Waiting' },
  processing: { tone: 'busy', word: 'Processing' },
  failed: { tone: 'bad', word: 'Failed' },
}

export function DocumentStatusMark({
  document,
}: {
  document: Pick<Document, 'status' | 'attempts'>
}) {
  const { tone, word } = MARKS[document.status]
  const again = document.status !== 'ready' && document.attempts > 1
  return (
    <Status tone={tone}>
      {word}
      {again && `, attempt ${document.attempts}`}
    </Status>
  )
}

/** What people know it by. */
export function titleOf({ title, file, id }: Pick<Document, 'title' | 'file' | 'id'>): string {
  return title || file?.name || id
}

/** Answers whether it went well; else `failure` says why not. */
export function deleteDocument(id: string, failure: Signal<string>): Promise<boolean> {
  return attempt(failure, () => client.documents.delete(id))
}

/** Answers whether it went well; else `failure` says why not. */
export function retryDocument(id: string, failure: Signal<string>): Promise<boolean> {
  return attempt(failure, () => client.documents.retry(id))
}

/** As `retryDocument`, of what came from the web. */
export function refreshDocument(id: string, failure: Signal<string>): Promise<boolean> {
  return attempt(failure, () => client.documents.refresh(id))
}

async function attempt(failure: Signal<string>, act: () => PromiseLike<unknown>): Promise<boolean> {
  try {
    failure.value = ''
    await act()
    return true
  } catch (error) {
    failure.value = messageOf(error)
    return false
  }
}
