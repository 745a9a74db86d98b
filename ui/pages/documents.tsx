import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Document, Readiness } from '../../packages/client/src/agent-server.ts'
import { attempt, client } from '../api.ts'
import { refreshCollections } from '../collections/collections.ts'
import { AddDocuments } from '../documents/add-documents.tsx'
import { BulkBar, retryIn } from '../documents/bulk-bar.tsx'
import { bulkWork, canRetry, doToAll } from '../documents/bulk-work.ts'
import { EditDialog } from '../documents/change-document.tsx'
import { type DocumentListing, documentListAt, isUnsettled } from '../documents/document-list.ts'
import { DocumentPage } from '../documents/document-page.tsx'
import { DocumentTable } from '../documents/document-table.tsx'
import { Filters } from '../documents/filters.tsx'
import { DeleteDialog } from '../documents/one-document.tsx'
import { selectionOf } from '../documents/shown-documents.ts'
import { UploadPanel } from '../documents/upload-panel.tsx'
import { arrivals, isOpen, uploads } from '../documents/uploads.ts'
import { counted } from '../format.ts'
import { Button } from '../parts/controls.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { routeQuery } from '../route.ts'

const BUSY_POLL_MS = 1_000
const IDLE_POLL_MS = 15_000
/** Documents that arrive within this time are read together. */
const GATHER_MS = 500

export function DocumentsPage({ id }: { id?: string | undefined }) {
  return id === undefined ? <DocumentsList /> : <DocumentPage key={id} id={id} />
}

function DocumentsList() {
  const list = documentListAt(routeQuery.value)
  const counts = useSignal<Readiness['documents']>(undefined)
  const leaving = useSignal<Document | undefined>(undefined)
  const edited = useSignal<Document | undefined>(undefined)
  const refresh = useRefresh(list, async () => {
    void refreshCollections()
    counts.value = (await client.admin.readiness()).documents
  })
  useLayoutEffect(() => window.scrollTo(0, list.place), [list])
  const confirm = async () => {
    const document = leaving.value
    leaving.value = undefined
    if (document && (await attempt(list.failure, () => client.documents.delete(document.id)))) {
      list.drop(document.id)
      refresh()
    }
  }
  const retry = (documents: readonly Document[]) =>
    void doToAll('Retrying', documents, retryIn(list)).then((failure) => {
      list.failure.value = failure
      refresh()
    })

  return (
    <>
      <div class="page-head">
        <h1>Documents</h1>
        <AddDocuments onAdded={refresh} to={list.shown.collection} />
      </div>
      <UploadPanel />
      <Filters list={list} counts={counts.value} />
      <RetryAll list={list} count={counts.value?.failed ?? 0} onRetry={retry} />
      <ErrorNote message={list.failure.value} />
      <DocumentTable
        list={list}
        onDelete={(document) => (leaving.value = document)}
        onEdit={(document) => (edited.value = document)}
        onRetry={(document) => retry([document])}
      />
      <BulkBar list={list} onDone={refresh} />
      {edited.value && (
        <EditDialog
          document={edited.value}
          onChanged={refresh}
          onClose={() => (edited.value = undefined)}
        />
      )}
      {leaving.value && (
        <DeleteDialog
          document={leaving.value}
          onConfirm={() => void confirm()}
          onClose={() => (leaving.value = undefined)}
        />
      )}
    </>
  )
}

/** Above the failed ones. Those whose file is at fault are left out, and told of. */
function RetryAll({
  list,
  count,
  onRetry,
}: {
  list: DocumentListing
  count: number
  onRetry: (documents: readonly Document[]) => void
}) {
  const note = useSignal('')
  if (list.shown.status !== 'failed' || count === 0 || bulkWork.value) return null
  // Pages that nobody has scrolled to may have changed.
  if (list.hasMore.value === false && !list.items.value.some(canRetry)) {
    return <p class="hint">{leftOut(count)}</p>
  }
  const retryAll = async () => {
    const { sort: _, ...selection } = selectionOf(list.shown)
    const failed = await Array.fromAsync(client.documents.list(selection))
    const retriable = failed.filter(canRetry)
    const left = failed.length - retriable.length
    note.value = left > 0 ? leftOut(left) : ''
    onRetry(retriable)
  }
  return (
    <div class="row">
      <Button icon="retry" onClick={() => void attempt(list.failure, retryAll)}>
        Retry all failed
      </Button>
      <span role="status" class="hint">
        {note.value}
      </span>
    </div>
  )
}

const leftOut = (count: number) =>
  `${counted(count, 'document')} not retried: the file itself is the problem. Replace the file, or delete the document.`

/** A server that does not answer is asked more seldom. */
function pauseOf({ items, failure }: DocumentListing): number {
  const isBusy = items.value.some(isUnsettled) || uploads.value.some(isOpen)
  return isBusy && failure.value === '' ? BUSY_POLL_MS : IDLE_POLL_MS
}

/** Asks more often while something is being processed. What it answers asks at once. */
function useRefresh(list: DocumentListing, count: () => Promise<void>): () => void {
  const now = useRef<() => void>(undefined)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let gathering: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    const turn = async () => {
      // The effect of an operation on many documents appears one by one.
      if (!document.hidden && !bulkWork.value) {
        await list.refresh()
        // The list already shows the error.
        await count().catch(() => undefined)
      }
      // Another turn may have ended meanwhile: one of them continues.
      clearTimeout(timer)
      if (!isOver) timer = setTimeout(() => void turn(), pauseOf(list))
    }
    now.current = () => void turn()
    const stop = arrivals.subscribe(() => {
      gathering ??= setTimeout(() => {
        gathering = undefined
        now.current?.()
      }, GATHER_MS)
    })
    now.current()
    return () => {
      isOver = true
      clearTimeout(gathering)
      clearTimeout(timer)
      stop()
    }
  }, [list])
  return () => now.current?.()
}
