import type { Document } from '../../packages/client/src/agent-server.ts'
import { Confirm } from '../parts/dialog.tsx'
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

/** Asks before a document is deleted. */
export function DeleteDialog({
  document,
  onConfirm,
  onClose,
}: {
  document: Document
  onConfirm: () => void
  onClose: () => void
}) {
  return (
    <Confirm title="Delete this document?" action="Delete" onConfirm={onConfirm} onClose={onClose}>
      <p>
        Search and chat no longer find <strong>{titleOf(document)}</strong>. This cannot be undone.
      </p>
    </Confirm>
  )
}
