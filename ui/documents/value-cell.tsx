import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Document } from '../../packages/client/src/agent-server.ts'
import { client, isEditConflict, messageOf } from '../api.ts'
import { bound } from '../parts/controls.tsx'
import { useEscape } from '../parts/escape.ts'
import { mayChange, saveFacts, typedValue } from './document-facts.ts'
import type { DocumentListing } from './document-list.ts'
import { titleOf } from './one-document.tsx'

interface CellProperties {
  list: DocumentListing
  document: Document
  /** The field of the metadata. */
  field: string
}

/** A metadata value, edited in place: Enter and blur save, Escape cancels. */
export function ValueCell({ list, document, field }: CellProperties) {
  const isEditing = useSignal(false)
  const value = document.metadata?.[field]
  if (!mayChange(document)) return <span class="hint document-value">{value?.toString()}</span>
  if (isEditing.value) {
    return (
      <ValueField
        list={list}
        document={document}
        field={field}
        onClose={() => (isEditing.value = false)}
      />
    )
  }
  return (
    <button
      type="button"
      class="quiet hint document-value value-cell"
      title={value === undefined ? `Add ${field}` : String(value)}
      onClick={() => (isEditing.value = true)}
    >
      <span aria-hidden="true">{value === undefined ? '–' : String(value)}</span>
      <span class="visually-hidden">
        Edit {field} of {titleOf(document)}
        {value !== undefined && `: ${value}`}
      </span>
    </button>
  )
}

function ValueField({ list, document, field, onClose }: CellProperties & { onClose: () => void }) {
  const input = useRef<HTMLInputElement>(null)
  const before = document.metadata?.[field]
  const shown = before === undefined ? '' : String(before)
  const typed = useSignal(shown)
  const isBusy = useRef(false)
  /** Somebody else has changed it: only Enter overwrites that. */
  const isAsking = useRef(false)
  useEffect(() => input.current?.select(), [])
  const save = async () => {
    if (isBusy.current) return
    if (typed.value === shown) return onClose()
    isBusy.current = true
    list.failure.value = ''
    const value = typed.value.trim() === '' ? null : typedValue(typed.value, before)
    try {
      list.update(await saveFacts(document, { metadata: { [field]: value } }))
      onClose()
    } catch (error) {
      isBusy.current = false
      list.failure.value = messageOf(error)
      if (isEditConflict(error)) await ask()
    }
  }
  const ask = async () => {
    list.failure.value += ' Press Enter to overwrite it, or Escape to leave it.'
    isAsking.current = true
    await client.documents.get(document.id).then(list.update, () => undefined)
  }
  const cancel = () => {
    isBusy.current = true
    list.failure.value = ''
    onClose()
  }
  useEscape(cancel, { within: input, isOnlyWithin: true })
  return (
    <input
      ref={input}
      class="value-field"
      aria-label={`${field} of ${titleOf(document)}`}
      {...bound(typed)}
      onBlur={() => {
        if (!isAsking.current) void save()
      }}
      onKeyDown={({ key, isComposing }) => {
        if (key === 'Enter' && !isComposing) void save()
      }}
    />
  )
}
