import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { DocumentStatus, Readiness } from '../../packages/client/src/agent-server.ts'
import { CollectionChooser } from '../collections/collection-chooser.tsx'
import { formatNumber } from '../format.ts'
import { Button, bound, Choice, Field } from '../parts/controls.tsx'
import { replaceAddress } from '../route.ts'
import type { DocumentListing } from './document-list.ts'
import { typeChoices } from './file-types.ts'
import { addressOf, isFiltered, type ShownDocuments } from './shown-documents.ts'

const TYPING_MS = 300

/** Shows other documents, or in another order. */
export function showInstead({ shown }: DocumentListing, change: Partial<ShownDocuments>): void {
  replaceAddress(addressOf({ ...shown, ...change }))
}

const STATUS_NAMES: readonly [DocumentStatus | undefined, string][] = [
  [undefined, 'All'],
  ['ready', 'Ready'],
  ['pending', 'Waiting'],
  ['processing', 'Processing'],
  ['failed', 'Failed'],
]

export function Filters(properties: { list: DocumentListing; counts: Readiness['documents'] }) {
  const { list, counts } = properties
  /** On a telephone the fields are folded until they are wanted, or used. */
  const isOpen = useSignal(isFiltered({ ...list.shown, status: undefined }))
  const total = counts && Object.values(counts).reduce((sum, count) => sum + count, 0)
  return (
    <>
      <Choice
        legend="Status"
        options={STATUS_NAMES.map(([status, name]) => {
          const count = status ? counts?.[status] : total
          return [status, count === undefined ? name : `${name} ${formatNumber(count)}`]
        })}
        chosen={list.shown.status}
        onChoose={(status) => showInstead(list, { status })}
      />
      <Button
        icon="columns"
        class="filter-button"
        aria-expanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        Filter
      </Button>
      <div class={isOpen.value ? 'document-filters' : 'document-filters folded'}>
        <Typed list={list} name="title" label="Title contains" maxLength={200} />
        <CollectionChooser
          value={list.shown.collection}
          onChoose={(collection) => showInstead(list, { collection })}
        />
        <Typed list={list} name="metadata" label="Metadata" placeholder="year = 2026" />
        <Field label="Type">
          <select
            value={list.shown.type}
            onChange={({ currentTarget }) => showInstead(list, { type: currentTarget.value })}
          >
            <option value="">All types</option>
            {typeChoices(list.shown.type).map(([type, name]) => (
              <option key={type} value={type}>
                {name}
              </option>
            ))}
          </select>
        </Field>
      </div>
    </>
  )
}

type TypedName = 'title' | 'metadata'

/** A field whose value is used once typing has paused. */
function Typed({
  list,
  name,
  ...field
}: {
  list: DocumentListing
  name: TypedName
  label: string
  maxLength?: number
  placeholder?: string
}) {
  const value = list.shown[name]
  const typed = useSignal(value)
  useEffect(() => {
    typed.value = value
  }, [value])
  useEffect(() => {
    if (typed.value === list.shown[name]) return
    const timer = setTimeout(() => showInstead(list, { [name]: typed.value }), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed.value])
  const { label, ...rest } = field
  return (
    <Field label={label}>
      <input type="search" {...rest} {...bound(typed)} />
    </Field>
  )
}
