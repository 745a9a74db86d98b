import { useEffect, useRef } from 'preact/hooks'
import type { Document } from '../../client/src/agent-server.ts'
import { counted, formatDate, formatNumber } from '../format.ts'
import { Empty } from '../parts/notes.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import { href } from '../route.ts'
import { canRetry } from './bulk-work.ts'
import type { DocumentListing } from './document-list.ts'
import { showInstead } from './filters.tsx'
import { DocumentStatusMark, titleOf } from './one-document.tsx'
import { isFiltered } from './shown-documents.ts'

/** In pixels. */
const ROW_HEIGHT = 56

interface RowActions {
  onDelete: (document: Document) => void
  onRetry: (document: Document) => void
}

/** The documents as a table: a list for assistive technology, since only the rows in sight are drawn. */
export function DocumentTable({ list, ...actions }: { list: DocumentListing } & RowActions) {
  const items = list.items.value
  if (list.hasMore.value === undefined) return null
  if (items.length === 0) return <Nothing isFiltered={isFiltered(list.shown)} />
  return (
    <div>
      <Heads list={list} />
      <VirtualList
        items={items}
        rowHeight={ROW_HEIGHT}
        label="Documents"
        keyOf={({ id }) => id}
        onNearEnd={() => void list.loadMore()}
      >
        {(document) => <Row list={list} document={document} {...actions} />}
      </VirtualList>
    </div>
  )
}

/** What each heading sorts by, first this way round, then the other. */
const SORTED = {
  Title: ['title', '-title'],
  Characters: ['-characters', 'characters'],
  Added: ['-createdAt', 'createdAt'],
} as const

function Heads({ list }: { list: DocumentListing }) {
  return (
    <div class="document-row document-heads">
      <CheckShown list={list} />
      <Head list={list} name="Title" />
      <span class="document-collection">Collection</span>
      <Head list={list} name="Characters" />
      <Head list={list} name="Added" />
      <span class="document-status">Status</span>
    </div>
  )
}

function Head({ list, name }: { list: DocumentListing; name: keyof typeof SORTED }) {
  const [first, second] = SORTED[name]
  const { sort } = list.shown
  const isFirst = sort === first
  const isSorted = isFirst || sort === second
  const isDescending = sort.startsWith('-')
  const order = isDescending ? ', now descending' : ', now ascending'
  return (
    <button
      type="button"
      class="quiet"
      aria-pressed={isSorted}
      aria-label={`Sort by ${name.toLowerCase()}${isSorted ? order : ''}`}
      onClick={() => showInstead(list, { sort: isFirst ? second : first })}
    >
      {name} {isSorted && (isDescending ? '↓' : '↑')}
    </button>
  )
}

function CheckShown({ list }: { list: DocumentListing }) {
  const box = useRef<HTMLInputElement>(null)
  const ids = list.items.value.map(({ id }) => id)
  const count = ids.filter((id) => list.checked.value.has(id)).length
  const isAll = count > 0 && count === ids.length
  useEffect(() => {
    if (box.current) box.current.indeterminate = count > 0 && !isAll
  }, [count, isAll])
  return (
    <label class="document-check">
      <input
        ref={box}
        type="checkbox"
        aria-label="Select the documents shown"
        checked={isAll}
        onChange={() => list.check(ids, !isAll)}
      />
    </label>
  )
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No matching documents">
        <a href={href('documents')}>Show all documents</a>
      </Empty>
    )
  }
  return (
    <Empty title="No documents yet">
      <p>
        Drop files or folders anywhere on this page, or add them above: PDF, Word, Excel,
        PowerPoint, HTML, email, Markdown, code and more. Then <a href={href('search')}>search</a>{' '}
        them, or <a href={href('chat')}>ask</a> about them.
      </p>
    </Empty>
  )
}

function Row(properties: { list: DocumentListing; document: Document } & RowActions) {
  const { list, document, onDelete, onRetry } = properties
  const { id, chunks, error, status, metadata, characters, createdAt } = document
  const title = titleOf(document)
  const isFailed = status === 'failed' && error
  return (
    <div class="document-row">
      <label class="document-check">
        <input
          type="checkbox"
          aria-label={`Select ${title}`}
          checked={list.checked.value.has(id)}
          onChange={({ currentTarget }) => list.check([id], currentTarget.checked)}
        />
      </label>
      <div class="document-name">
        <a
          href={href('documents', id)}
          onClick={() => {
            list.place = window.scrollY
          }}
        >
          {title}
        </a>
        <span class={isFailed ? 'reason' : 'hint'} title={isFailed ? error.message : undefined}>
          {isFailed ? error.message : chunks > 0 && counted(chunks, 'passage')}
        </span>
      </div>
      <span class="hint document-collection">{metadata?.collection}</span>
      <span class="hint document-size">{characters > 0 && formatNumber(characters)}</span>
      <span class="hint document-date">{formatDate(createdAt)}</span>
      <DocumentStatusMark document={document} />
      <div class="row tight document-actions">
        {canRetry(document) && (
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
