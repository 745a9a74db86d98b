import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { CreateDocument } from '../../packages/client/src/agent-server.ts'
import { attempt, client } from '../api.ts'
import { CollectionField } from '../collections/collection-chooser.tsx'
import { Button, bound, Field, Form } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { DropPlace } from './drop-place.tsx'
import { chosenFiles } from './dropped-files.ts'
import { addFiles, type ChosenFile, MAX_FILES, uploadCollection } from './uploads.ts'

/** Buttons for files, folders and text, and the whole page as a place to drop them; `to` is the collection shown. */
export function AddDocuments({ onAdded, to }: { onAdded: () => void; to: string }) {
  // What is added to the collection that is shown is shown.
  useEffect(() => {
    if (to !== '') uploadCollection.value = to
  }, [to])
  const isPasting = useSignal(false)
  const isFetching = useSignal(false)
  const note = useSignal('')
  const add = (files: readonly ChosenFile[]) => {
    const tooMany = addFiles(files)
    note.value = ''
    if (tooMany > 0) {
      note.value = `${tooMany} files were skipped: at most ${MAX_FILES} can be added at once. To add a folder of any size, use npm run ingest.`
    } else if (files.length === 0) note.value = 'No files were found.'
  }
  return (
    <>
      <div class="row">
        <span class="small-field">
          <CollectionField text={uploadCollection} label="Add to collection" isSmall />
        </span>
        <FileButton label="Add files" onChosen={add} isPrimary />
        <FileButton label="Add folder" onChosen={add} isFolder />
        <Button icon="paste" onClick={() => (isPasting.value = true)}>
          Paste text
        </Button>
        <Button icon="web" onClick={() => (isFetching.value = true)}>
          Add from the web
        </Button>
      </div>
      <ErrorNote message={note.value} />
      <DropPlace
        label={`Drop to add${uploadCollection.value && ` to ${uploadCollection.value}`}`}
        onDropped={add}
      />
      {isPasting.value && (
        <PasteDialog onClose={() => (isPasting.value = false)} onAdded={onAdded} />
      )}
      {isFetching.value && (
        <FetchDialog onClose={() => (isFetching.value = false)} onAdded={onAdded} />
      )}
    </>
  )
}

function FileButton({
  label,
  onChosen,
  isFolder = false,
  isPrimary = false,
}: {
  label: string
  onChosen: (files: ChosenFile[]) => void
  isFolder?: boolean
  isPrimary?: boolean
}) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (isFolder) input.current?.setAttribute('webkitdirectory', '')
  }, [])
  return (
    <>
      <Button
        icon={isFolder ? 'addFolder' : 'addFile'}
        class={isPrimary ? 'primary' : ''}
        onClick={() => input.current?.click()}
      >
        {label}
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={label}
        onChange={({ currentTarget }) => {
          onChosen(chosenFiles(currentTarget.files ?? []))
          // The same file may be chosen again.
          currentTarget.value = ''
        }}
      />
    </>
  )
}

/** A dialog with a form that adds one document. */
function AddDialog({
  title,
  isReady,
  document,
  children,
  onClose,
  onAdded,
}: {
  title: string
  isReady: boolean
  document: () => CreateDocument
  children: ComponentChildren
  onClose: () => void
  onAdded: () => void
}) {
  const failure = useSignal('')
  const busy = useSignal(false)
  const submit = async () => {
    busy.value = true
    const { value: collection } = uploadCollection
    const place = collection === '' ? {} : { collection }
    const isAdded = await attempt(failure, () =>
      client.documents.create({ ...document(), ...place }),
    )
    busy.value = false
    if (!isAdded) return
    onAdded()
    onClose()
  }
  return (
    <Dialog title={title} onClose={onClose} wide>
      <Form class="stack" onSubmit={submit}>
        {children}
        <CollectionField text={uploadCollection} label="Add to collection" />
        <ErrorNote message={failure.value} />
        <div class="dialog-foot">
          <Button icon="cancel" onClick={onClose}>
            Cancel
          </Button>
          <Button icon="add" type="submit" class="primary" disabled={busy.value || !isReady}>
            Add
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

interface DialogEnds {
  onClose: () => void
  onAdded: () => void
}

function FetchDialog(ends: DialogEnds) {
  const url = useSignal('')
  const refresh = useSignal('')
  const document = () => ({ url: url.value.trim(), refresh: refresh.value || null })
  return (
    <AddDialog
      title="Add from the web"
      isReady={/^https?:\/\/./.test(url.value.trim())}
      document={document}
      {...ends}
    >
      <Field label="URL of a page or file">
        <input type="url" required placeholder="https://" {...bound(url)} />
      </Field>
      <Field label="Fetch again">
        <select {...bound(refresh)}>
          <option value="">only on demand</option>
          <option value="1h">every hour</option>
          <option value="1d">every day</option>
          <option value="1w">every week</option>
        </select>
      </Field>
    </AddDialog>
  )
}

const MAX_TITLE = 80

/** The name of a text without a title: an id says nothing about its content. */
function firstLine(text: string): string {
  const [line = ''] = text.trim().split('\n', 1)
  const words = line.replace(/^#+\s+/, '').trim()
  return words.length > MAX_TITLE ? `${words.slice(0, MAX_TITLE).trimEnd()}…` : words
}

function PasteDialog(ends: DialogEnds) {
  const title = useSignal('')
  const text = useSignal('')
  const document = () => ({ text: text.value, title: title.value.trim() || firstLine(text.value) })
  return (
    <AddDialog title="Paste text" isReady={text.value.trim() !== ''} document={document} {...ends}>
      <Field label="Title">
        <input
          type="text"
          maxLength={1_000}
          placeholder="If empty, the first line of the text"
          {...bound(title)}
        />
      </Field>
      <Field label="Text">
        <textarea rows={10} required {...bound(text)} />
      </Field>
    </AddDialog>
  )
}
