import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Document, DocumentStatus, Readiness } from '../../client/src/agent-server.ts'
import { client } from '../api.ts'
import { AddDocuments } from '../documents/add-documents.tsx'
import {
  createDocumentList,
  type DocumentListing,
  isUnsettled,
} from '../documents/document-list.ts'
import { DocumentPage } from '../documents/document-page.tsx'
import {
  DocumentStatusMark,
  deleteDocument,
  retryDocument,
  titleOf,
} from '../documents/one-document.tsx'
import { UploadPanel } from '../documents/upload-panel.tsx'
import { arrivals, isOpen, uploads } from '../documents/uploads.ts'
import { counted, formatDate, formatNumber } from '../format.ts'
import { Confirm } from '../parts/dialog.tsx'
import { Empty, ErrorNote } from '../parts/notes.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import { href } from '../route.ts'

const BUSY_POLL_MS = 1_000
const IDLE_POLL_MS = 15_000
const ROW_HEIGHT = 64

export function DocumentsPage({ id }: { id?: string | undefined }) {
  return id === undefined ? <DocumentsList /> : <DocumentPage key={id} id={id} />
}

function DocumentsList() {
  const list = useMemo(createDocumentList, [])
  const counts = useSignal<Readiness['documents']>(undefined)
  const leaving = useSignal<Document | undefined>(undefined)
  const refresh = useRefresh(list, async () => {
    counts.value = (await client.admin.readiness()).documents
  })
  const confirm = async () => {
    const document = leaving.value
    leaving.value = undefined
    if (document && (await deleteDocument(document.id, list.failure))) {
      list.drop(document.id)
      refresh()
    }
  }

  return (
    <>
      <div class="page-head">
        <h1>Documents</h1>
        <AddDocuments onAdded={refresh} />
      </div>
      <UploadPanel />
      <Filter list={list} counts={counts.value} />
      <TitleField list={list} />
      <ErrorNote message={list.failure.value} />
      <Rows
        list={list}
        onDelete={(document) => (leaving.value = document)}
        onRetry={(document) => void retryDocument(document.id, list.failure).then(refresh)}
      />
      {leaving.value && (
        <Confirm
          title="Delete this document?"
          action="Delete"
          onConfirm={() => void confirm()}
          onClose={() => (leaving.value = undefined)}
        >
          <p>
            <strong>{titleOf(leaving.value)}</strong> is gone at once, with its{' '}
            {counted(leaving.value.chunks, 'passage')}, for searches and for chat. This cannot be
            undone.
          </p>
        </Confirm>
      )}
    </>
  )
}

/** Asks more often while something is being processed. What it answers asks at once. */
function useRefresh(list: DocumentListing, count: () => Promise<void>): () => void {
  const now = useRef<() => void>(undefined)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    const turn = async () => {
      if (!document.hidden) {
        await list.refresh()
        // The list has said what is wrong already.
        await count().catch(() => undefined)
      }
      const isBusy = list.items.value.some(isUnsettled) || uploads.value.some(isOpen)
      // Another turn may have ended meanwhile: one of them goes on.
      clearTimeout(timer)
      if (!isOver) timer = setTimeout(() => void turn(), isBusy ? BUSY_POLL_MS : IDLE_POLL_MS)
    }
    now.current = () => void turn()
    const stop = arrivals.subscribe(() => now.current?.())
    return () => {
      isOver = true
      clearTimeout(timer)
      stop()
    }
  }, [])
  return () => now.current?.()
}

const FILTERS: readonly [DocumentStatus | undefined, string][] = [
  [undefined, 'All'],
  ['ready', 'Ready'],
  ['pending', 'Waiting'],
  ['processing', 'Processing'],
  ['failed', 'Failed'],
]

function Filter({ list, counts }: { list: DocumentListing; counts: Readiness['documents'] }) {
  const total = counts && Object.values(counts).reduce((sum, count) => sum + count, 0)
  return (
    <fieldset class="choice">
      <legend class="visually-hidden">Status</legend>
      {FILTERS.map(([status, name]) => {
        const count = status ? counts?.[status] : total
        return (
          <label key={name}>
            <input
              type="radio"
              name="status"
              checked={list.status.value === status}
              onChange={() => void list.filterBy(status)}
            />
            <span>
              {name} {count !== undefined && formatNumber(count)}
            </span>
          </label>
        )
      })}
    </fieldset>
  )
}

const TYPING_MS = 300

function TitleField({ list }: { list: DocumentListing }) {
  const typed = useSignal(list.title.value)
  useEffect(() => {
    if (typed.value === list.title.value) return
    const timer = setTimeout(() => void list.filterBy(list.status.value, typed.value), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed.value])
  return (
    <label class="field">
      <span class="label">Title contains</span>
      <input
        type="search"
        maxLength={200}
        value={typed.value}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value
        }}
      />
    </label>
  )
}

interface RowActions {
  onDelete: (document: Document) => void
  onRetry: (document: Document) => void
}

function Rows({ list, ...actions }: { list: DocumentListing } & RowActions) {
  const items = list.items.value
  if (list.hasMore.value === undefined) return null
  if (items.length === 0)
    return <Nothing isFiltered={list.status.value !== undefined || list.title.value !== ''} />
  return (
    <VirtualList
      items={items}
      rowHeight={ROW_HEIGHT}
      label="Documents"
      keyOf={({ id }) => id}
      onNearEnd={() => void list.loadMore()}
    >
      {(document) => <Row document={document} {...actions} />}
    </VirtualList>
  )
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No document is like that" />
  return (
    <Empty title="No documents yet">
      <p>
        Drop files or folders anywhere on this page, or add them above: PDF, Word, Excel,
        PowerPoint, HTML, mail, Markdown, code and more. Then <a href={href('search')}>search</a>{' '}
        them, or <a href={href('chat')}>ask</a> about them.
      </p>
    </Empty>
  )
}

function Row({ document, onDelete, onRetry }: { document: Document } & RowActions) {
  const { id, chunks, error, status, createdAt } = document
  const title = titleOf(document)
  return (
    <div class="document-row">
      <div class="document-name">
        <a href={href('documents', id)}>{title}</a>
        <span class={status === 'failed' ? 'reason' : 'hint'}>
          {status === 'failed' && error
            ? error.message
            : [formatDate(createdAt), chunks > 0 && counted(chunks, 'passage')]
                .filter(Boolean)
                .join(', ')}
        </span>
      </div>
      <DocumentStatusMark document={document} />
      <div class="row tight document-actions">
        {status === 'failed' && (
          <button type="button" class="quiet" onClick={() => onRetry(document)}>
            Retry<span class="visually-hidden"> {title}</span>
          </button>
        )}
        <button type="button" class="quiet danger" onClick={() => onDelete(document)}>
          Delete<span class="visually-hidden"> {title}</span>
        </button>
      </div>
    </div>
  )
}
