import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { NewDocument } from '../../client/src/agent-server.ts'
import { client, messageOf } from '../api.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { DropPlace } from './drop-place.tsx'
import { chosenFiles } from './dropped-files.ts'
import { addFiles, type ChosenFile, MAX_FILES } from './uploads.ts'

/** Buttons for files, folders and text, and the whole page as a place to drop them. */
export function AddDocuments({ onAdded }: { onAdded: () => void }) {
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
        <FileButton label="Add files" onChosen={add} isPrimary />
        <FileButton label="Add folder" onChosen={add} isFolder />
        <button
          type="button"
          onClick={() => {
            isPasting.value = true
          }}
        >
          <Icon name="paste" />
          Paste text
        </button>
        <button
          type="button"
          onClick={() => {
            isFetching.value = true
          }}
        >
          <Icon name="web" />
          Add from the web
        </button>
      </div>
      <ErrorNote message={note.value} />
      <DropPlace label="Drop to add" onDropped={add} />
      {isPasting.value && (
        <PasteDialog
          onClose={() => {
            isPasting.value = false
          }}
          onAdded={onAdded}
        />
      )}
      {isFetching.value && (
        <FetchDialog
          onClose={() => {
            isFetching.value = false
          }}
          onAdded={onAdded}
        />
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
      <button
        type="button"
        class={isPrimary ? 'primary' : ''}
        onClick={() => input.current?.click()}
      >
        <Icon name={isFolder ? 'addFolder' : 'addFile'} />
        {label}
      </button>
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
  document: () => NewDocument
  children: ComponentChildren
  onClose: () => void
  onAdded: () => void
}) {
  const failure = useSignal('')
  const busy = useSignal(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    busy.value = true
    failure.value = ''
    try {
      await client.documents.create(document())
      onAdded()
      onClose()
    } catch (error) {
      failure.value = messageOf(error)
      busy.value = false
    }
  }
  return (
    <Dialog title={title} onClose={onClose} wide>
      <form class="stack" onSubmit={(event) => void submit(event)}>
        {children}
        <ErrorNote message={failure.value} />
        <div class="dialog-foot">
          <button type="button" onClick={onClose}>
            <Icon name="cancel" />
            Cancel
          </button>
          <button type="submit" class="primary" disabled={busy.value || !isReady}>
            <Icon name="add" />
            Add
          </button>
        </div>
      </form>
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
      <label class="field">
        <span class="label">URL of a page or file</span>
        <input
          type="url"
          required
          placeholder="https://"
          value={url.value}
          onInput={({ currentTarget }) => {
            url.value = currentTarget.value
          }}
        />
      </label>
      <label class="field">
        <span class="label">Fetch again</span>
        <select
          value={refresh.value}
          onChange={({ currentTarget }) => {
            refresh.value = currentTarget.value
          }}
        >
          <option value="">only on demand</option>
          <option value="1h">every hour</option>
          <option value="1d">every day</option>
          <option value="1w">every week</option>
        </select>
      </label>
    </AddDialog>
  )
}

const MAX_TITLE = 80

/** What a text is called that has no title: an id would tell nobody what it is about. */
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
      <label class="field">
        <span class="label">Title</span>
        <input
          type="text"
          maxLength={1_000}
          placeholder="If empty, the first line of the text"
          value={title.value}
          onInput={({ currentTarget }) => {
            title.value = currentTarget.value
          }}
        />
      </label>
      <label class="field">
        <span class="label">Text</span>
        <textarea
          rows={10}
          required
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value
          }}
        />
      </label>
    </AddDialog>
  )
}
