import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { Document } from '../../client/src/agent-server.ts'
import { API, client, messageOf } from '../api.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { titleOf } from './one-document.tsx'

interface Change {
  document: Document
  onChanged: () => void
}

type Value = string | number | boolean

/** A field as it is typed; without a name it is none. */
interface Field {
  name: string
  value: string
  before?: Value
}

/** Changes title and metadata. A new title means that the same content is ingested again: searches look in titles, too. */
export function EditDialog({ document, onChanged, onClose }: Change & { onClose: () => void }) {
  const { id, metadata = {}, source } = document
  const title = useSignal(titleOf(document))
  const fields = useSignal<readonly Field[]>([
    ...Object.entries(metadata).map(([name, before]) => ({ name, value: String(before), before })),
    { name: '', value: '' },
  ])
  const failure = useSignal('')
  const isBusy = useSignal(false)
  const change = (place: number, part: Partial<Field>) => {
    const changed = fields.value.map((one, at) => (at === place ? { ...one, ...part } : one))
    const isFull = changed.at(-1)?.name !== ''
    fields.value = isFull ? [...changed, { name: '', value: '' }] : changed
  }
  const save = async (event: Event) => {
    event.preventDefault()
    isBusy.value = true
    failure.value = ''
    try {
      const patch = patchOf(metadata, fields.value)
      if (Object.keys(patch).length > 0) await client.documents.patch(id, { metadata: patch })
      if (title.value.trim() !== titleOf(document)) await rename(id, title.value.trim())
      onChanged()
      onClose()
    } catch (error) {
      failure.value = messageOf(error)
      isBusy.value = false
    }
  }
  return (
    <Dialog title="Edit document" onClose={onClose} wide>
      <form class="stack" onSubmit={(event) => void save(event)}>
        {source ? (
          <p class="hint">The title comes from the web page.</p>
        ) : (
          <label class="field">
            <span class="label">Title</span>
            <input
              required
              maxLength={1_000}
              value={title.value}
              onInput={({ currentTarget }) => {
                title.value = currentTarget.value
              }}
            />
          </label>
        )}
        <fieldset class="stack">
          <legend class="label">Metadata</legend>
          {fields.value.map(({ name, value }, place) => (
            <div key={place} class="metadata-field">
              <input
                aria-label={`Field ${place + 1}`}
                placeholder="field"
                value={name}
                onInput={({ currentTarget }) => change(place, { name: currentTarget.value })}
              />
              <input
                aria-label={`Value of ${name || `field ${place + 1}`}`}
                placeholder="value"
                value={value}
                onInput={({ currentTarget }) => change(place, { value: currentTarget.value })}
              />
            </div>
          ))}
          <p class="hint">
            Numbers, true and false are stored as such. Clear a field’s name to remove it. The field
            collection puts the document into that collection.
          </p>
        </fieldset>
        <ErrorNote message={failure.value} />
        <div class="dialog-foot">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isBusy.value}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** Only what differs; null for what is gone. */
function patchOf(before: Readonly<Record<string, Value>>, fields: readonly Field[]) {
  const named = fields.filter(({ name }) => name.trim() !== '')
  const after: Record<string, Value> = Object.fromEntries(
    named.map((field) => [field.name.trim(), typedValue(field)]),
  )
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name))
  const changed = Object.entries(after).filter(([name, value]) => value !== before[name])
  return Object.fromEntries<Value | null>([
    ...changed,
    ...gone.map((name) => [name, null] as const),
  ])
}

/** What was a text stays one, whatever it looks like. */
function typedValue({ value, before }: Field): Value {
  if (typeof before === 'string') return value
  const word = value.trim()
  if (word === 'true' || word === 'false') return word === 'true'
  return word !== '' && Number.isFinite(Number(word)) ? Number(word) : value
}

async function rename(id: string, title: string): Promise<void> {
  const { file, url, metadata } = await client.documents.get(id)
  const facts = { title, ...(url && { url }), ...(metadata && { metadata }) }
  if (!file) {
    await client.documents.replace(id, { text: await client.documents.text(id), ...facts })
    return
  }
  const response = await fetch(`${API}/documents/${encodeURIComponent(id)}/file`)
  if (!response.ok) throw new Error('The original file cannot be read.')
  const original = new File([await response.blob()], file.name)
  await client.documents.upload(original, { id, type: file.mediaType, ...facts })
}

/** Takes another file in place of the content; metadata stay, and so does a title that is not the file's name. */
export function ReplaceButton({
  document: { id, title, file, metadata },
  onChanged,
  onFailure,
}: Change & { onFailure: (message: string) => void }) {
  const input = useRef<HTMLInputElement>(null)
  const isBusy = useSignal(false)
  const send = async (chosen: File) => {
    isBusy.value = true
    onFailure('')
    try {
      const isOwn = title && title !== file?.name
      const facts = { ...(isOwn && { title }), ...(metadata && { metadata }) }
      await client.documents.upload(chosen, { id, ...facts })
      onChanged()
    } catch (error) {
      onFailure(messageOf(error))
    }
    isBusy.value = false
  }
  return (
    <>
      <button type="button" disabled={isBusy.value} onClick={() => input.current?.click()}>
        {isBusy.value ? 'Sending' : 'Replace file'}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label="Replace file"
        onChange={({ currentTarget }) => {
          const [chosen] = currentTarget.files ?? []
          if (chosen) void send(chosen)
          currentTarget.value = ''
        }}
      />
    </>
  )
}
