import { type Signal, useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { Document } from '../../packages/client/src/agent-server.ts'
import { client, isEditConflict, messageOf } from '../api.ts'
import { Button, bound, Field, Form } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { type MetadataValue, saveFacts, typedValue } from './document-facts.ts'
import { titleOf } from './one-document.tsx'

interface Change {
  document: Document
  onChanged: () => void
}

/** A field as typed; without a name it does not count. */
interface MetadataField {
  name: string
  value: string
  before?: MetadataValue
}

/** `EditForm` for a row of the table. */
export function EditDialog(properties: Change & { onClose: () => void }) {
  return (
    <Dialog title="Edit document" onClose={properties.onClose} wide>
      <EditForm {...properties} />
    </Dialog>
  )
}

/** Changes title and metadata, unless somebody else has changed the same meanwhile, which it says then. */
export function EditForm({ document, onChanged, onClose }: Change & { onClose: () => void }) {
  const { id, metadata = {} } = document
  const title = useSignal(titleOf(document))
  const fields = useSignal<readonly MetadataField[]>([
    ...Object.entries(metadata).map(([name, before]) => ({ name, value: String(before), before })),
    { name: '', value: '' },
  ])
  const seen = useRef(document)
  const failure = useSignal('')
  const isBusy = useSignal(false)
  const change = (place: number, part: Partial<MetadataField>) => {
    const changed = fields.value.map((one, at) => (at === place ? { ...one, ...part } : one))
    const isFull = changed.at(-1)?.name !== ''
    fields.value = isFull ? [...changed, { name: '', value: '' }] : changed
  }
  const save = async () => {
    isBusy.value = true
    failure.value = ''
    try {
      const patch = patchOf(metadata, fields.value)
      const typed = title.value.trim()
      await saveFacts(seen.current, {
        ...(typed !== titleOf(document) && { title: typed }),
        ...(Object.keys(patch).length > 0 && { metadata: patch }),
      })
      onChanged()
      onClose()
    } catch (error) {
      failure.value = messageOf(error)
      if (isEditConflict(error)) {
        failure.value += ' Save again to overwrite it.'
        seen.current = await client.documents.get(id).catch(() => document)
      }
      isBusy.value = false
    }
  }
  return (
    <Form class="stack" onSubmit={save}>
      <TitleField document={document} title={title} />
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
        <Button icon="cancel" onClick={onClose}>
          Cancel
        </Button>
        <Button icon="save" type="submit" class="primary" disabled={isBusy.value}>
          Save
        </Button>
      </div>
    </Form>
  )
}

function TitleField({ document, title }: { document: Document; title: Signal<string> }) {
  if (document.source) return <p class="hint">The title comes from the web page.</p>
  const isReady = document.status === 'ready'
  return (
    <Field label="Title">
      <input required maxLength={1_000} disabled={!isReady} {...bound(title)} />
      {!isReady && <span class="hint">A document can be renamed once it is ready.</span>}
    </Field>
  )
}

/** Only the differences; null for removed fields. */
function patchOf(
  before: Readonly<Record<string, MetadataValue>>,
  fields: readonly MetadataField[],
) {
  const named = fields.filter(({ name }) => name.trim() !== '')
  const after: Record<string, MetadataValue> = Object.fromEntries(
    named.map((field) => [field.name.trim(), typedValue(field.value, field.before)]),
  )
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name))
  const changed = Object.entries(after).filter(([name, value]) => value !== before[name])
  return Object.fromEntries<MetadataValue | null>([
    ...changed,
    ...gone.map((name) => [name, null] as const),
  ])
}

/** Replaces the content by another file; metadata stay, and so does a title that is not the file's name. */
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
      <Button icon="replace" disabled={isBusy.value} onClick={() => input.current?.click()}>
        {isBusy.value ? 'Sending' : 'Replace file'}
      </Button>
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
