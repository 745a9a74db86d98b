import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Document, DocumentSort } from '../../packages/client/src/agent-server.ts'
import { counted } from '../format.ts'
import { Button } from '../parts/controls.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { Empty } from '../parts/notes.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import { href } from '../route.ts'
import { canRetry } from './bulk-work.ts'
import { chooseColumn, chosenColumns, columnChoices, columnOf, MAX_COLUMNS } from './columns.ts'
import { mayChange } from './document-facts.ts'
import type { DocumentListing } from './document-list.ts'
import { showInstead } from './filters.tsx'
import { DocumentStatusMark, titleOf } from './one-document.tsx'
import { isFiltered } from './shown-documents.ts'
import { documentUploads, isOpen } from './uploads.ts'
import { ValueCell } from './value-cell.tsx'

/** In pixels; a finger needs more room than a mouse. */
const rowHeight = () => (matchMedia('(max-width: 46rem)').matches ? 56 : 44)

interface RowActions {
  onDelete: (document: Document) => void
  onEdit: (document: Document) => void
  onRetry: (document: Document) => void
}

/** The documents as a table: a list for assistive technology, since only the rows in sight are drawn. */
export function DocumentTable({ list, ...actions }: { list: DocumentListing } & RowActions) {
  const items = list.items.value
  if (list.hasMore.value === undefined) {
    return list.failure.value === '' ? <Skeleton rows={8} /> : null
  }
  if (items.length === 0) return <Nothing isFiltered={isFiltered(list.shown)} />
  const widths = chosenColumns.value
    .map((key) => `minmax(3rem, ${columnOf(key).width}rem)`)
    .join(' ')
  return (
    <div style={{ '--columns': widths }}>
      <Heads list={list} />
      <VirtualList
        items={items}
        rowHeight={rowHeight()}
        label="Documents"
        keyOf={({ id }) => id}
        onNearEnd={() => void list.loadMore()}
      >
        {(document) => <Row list={list} document={document} {...actions} />}
      </VirtualList>
    </div>
  )
}

function Heads({ list }: { list: DocumentListing }) {
  return (
    <div class="document-row document-heads">
      <CheckShown list={list} />
      <Head list={list} name="Title" sorts={['title', '-title']} />
      {chosenColumns.value.map((key) => {
        const { name, sorts, isNumber } = columnOf(key)
        return (
          <span key={key} class={`document-value ${isNumber ? 'number' : ''}`}>
            {sorts ? <Head list={list} name={name} sorts={sorts} /> : name}
          </span>
        )
      })}
      <span class="document-status">Status</span>
      <ColumnChoice documents={list.items.value} />
    </div>
  )
}

interface HeadProperties {
  list: DocumentListing
  name: string
  /** First this way round, then the other. */
  sorts: readonly [DocumentSort, DocumentSort]
}

function Head({ list, name, sorts: [first, second] }: HeadProperties) {
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

/** Which columns are shown, besides title and status. */
function ColumnChoice({ documents }: { documents: readonly Document[] }) {
  const isOpen = useSignal(false)
  return (
    <details
      class="column-choice"
      onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}
    >
      <summary>
        <Icon name="columns" />
        Columns
      </summary>
      {isOpen.value && <ColumnBoxes documents={documents} />}
    </details>
  )
}

function ColumnBoxes({ documents }: { documents: readonly Document[] }) {
  const chosen = chosenColumns.value
  return (
    <fieldset class="panel">
      <legend class="visually-hidden">Columns</legend>
      {columnChoices(documents).map((key) => (
        <label key={key} class="check">
          <input
            type="checkbox"
            checked={chosen.includes(key)}
            disabled={chosen.length >= MAX_COLUMNS && !chosen.includes(key)}
            onChange={({ currentTarget }) => chooseColumn(key, currentTarget.checked)}
          />
          {columnOf(key).name}
        </label>
      ))}
    </fieldset>
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
  if (documentUploads.value.some(isOpen)) return <Empty title="The first files are being sent" />
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
  const { list, document, onDelete, onEdit, onRetry } = properties
  const { id, chunks, error, status } = document
  const title = titleOf(document)
  const isOwn = mayChange(document)
  // Shown during a retry, too: it explains why it takes so long.
  const reason = status === 'ready' ? undefined : error?.message
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
        <span class={reason ? 'reason' : 'hint'} title={reason}>
          {reason ?? (chunks > 0 && counted(chunks, 'passage'))}
        </span>
      </div>
      {chosenColumns.value.map((key) => {
        const { field, isNumber, textOf } = columnOf(key)
        if (field) return <ValueCell key={key} list={list} document={document} field={field} />
        const text = textOf(document)
        return (
          <span
            key={key}
            class={`hint document-value ${isNumber ? 'number' : ''}`}
            title={isNumber ? undefined : text}
          >
            {text}
          </span>
        )
      })}
      <DocumentStatusMark document={document} />
      <div class="document-actions">
        {isOwn && canRetry(document) && (
          <RowAction icon="retry" name="Retry" title={title} onClick={() => onRetry(document)} />
        )}
        {isOwn && (
          <>
            <RowAction icon="edit" name="Edit" title={title} onClick={() => onEdit(document)} />
            <RowAction
              icon="delete"
              name="Delete"
              title={title}
              onClick={() => onDelete(document)}
            />
          </>
        )}
      </div>
    </div>
  )
}

interface RowActionProperties {
  icon: IconName
  name: string
  /** Title of the document. */
  title: string
  onClick: () => void
}

function RowAction({ icon, name, title, onClick }: RowActionProperties) {
  return (
    <Button
      icon={icon}
      about={`${name} ${title}`}
      class={`quiet icon-only ${icon === 'delete' ? 'danger' : ''}`}
      title={name}
      onClick={onClick}
    />
  )
}
