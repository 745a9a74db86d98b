import { useSignal } from '@preact/signals'
import type { Collection } from '../../packages/client/src/agent-server.ts'
import { attempt } from '../api.ts'
import { leaveConversation } from '../chat/answering.ts'
import { bulkWork } from '../documents/bulk-work.ts'
import { addressOf, readShown } from '../documents/shown-documents.ts'
import { counted } from '../format.ts'
import { Button, Form } from '../parts/controls.tsx'
import { Confirm, Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { href } from '../route.ts'
import { may } from '../session.ts'
import { CollectionAccessDialog, sharedWith } from './access-dialog.tsx'
import { CollectionField } from './collection-chooser.tsx'
import {
  countDoomed,
  DEFAULT,
  deleteCollection,
  mayManage,
  renameCollection,
} from './collection-work.ts'
import { chosenCollection, refreshCollections } from './collections.ts'

/** A collection, with what the reader may do with it. */
export function CollectionEntry({ collection }: { collection: Collection }) {
  const { name, documents } = collection
  const failure = useSignal('')
  const isRenaming = useSignal(false)
  const isSharing = useSignal(false)
  const doomed = useSignal<number | undefined>(undefined)
  const act = async (work: () => Promise<unknown>) => {
    await attempt(failure, work)
    await refreshCollections()
  }
  const remove = async (count: number) => {
    doomed.value = undefined
    await act(() => deleteCollection(collection, count))
  }
  const rename = async (to: string) => {
    isRenaming.value = false
    await act(async () => {
      failure.value = await renameCollection(collection, to)
    })
  }
  return (
    <li class="panel row spread">
      <span>
        <a href={addressOf({ ...readShown(''), collection: name })}>{name}</a>{' '}
        <span class="hint">
          {[counted(documents, 'document'), sharedWith(collection)].filter(Boolean).join(', ')}
        </span>
      </span>
      <span class="row tight">
        {may('chat') && (
          <Button icon="ask" class="quiet" about={`about ${name}`} onClick={() => askAbout(name)}>
            Ask
          </Button>
        )}
        {mayManage(collection) && (
          <Button
            icon="share"
            class="quiet"
            about={`to ${name}`}
            onClick={() => (isSharing.value = true)}
          >
            Access
          </Button>
        )}
        {mayManage(collection) && name !== DEFAULT && (
          <Button
            icon="edit"
            class="quiet"
            about={name}
            disabled={bulkWork.value !== undefined}
            onClick={() => (isRenaming.value = true)}
          >
            Rename
          </Button>
        )}
        {mayManage(collection) && (
          <Button
            icon="delete"
            class="quiet danger"
            about={name}
            onClick={() =>
              void attempt(failure, async () => (doomed.value = await countDoomed(collection)))
            }
          >
            Delete
          </Button>
        )}
      </span>
      <ErrorNote message={failure.value} />
      {isSharing.value && (
        <CollectionAccessDialog collection={collection} onClose={() => (isSharing.value = false)} />
      )}
      {isRenaming.value && (
        <RenameDialog
          name={name}
          onRename={(to) => void rename(to)}
          onClose={() => (isRenaming.value = false)}
        />
      )}
      {doomed.value !== undefined && (
        <DeleteDialog
          name={name}
          count={doomed.value}
          onConfirm={(count) => void remove(count)}
          onClose={() => (doomed.value = undefined)}
        />
      )}
    </li>
  )
}

function askAbout(name: string): void {
  chosenCollection.value = name
  leaveConversation()
  location.hash = href('chat')
}

interface DeleteProps {
  name: string
  count: number
  onConfirm: (count: number) => void
  onClose: () => void
}

function DeleteDialog({ name, count, onConfirm, onClose }: DeleteProps) {
  const what = count === 0 ? name : `${counted(count, 'document')} of ${name}`
  return (
    <Confirm
      title={`Delete ${what}?`}
      action={count === 0 ? 'Delete' : 'Delete all'}
      onConfirm={() => onConfirm(count)}
      onClose={onClose}
    >
      <p>
        {count === 0
          ? 'The collection has no documents that you can see.'
          : 'Search and chat no longer find them. This cannot be undone.'}
      </p>
    </Confirm>
  )
}

interface RenameProps {
  name: string
  onRename: (to: string) => void
  onClose: () => void
}

function RenameDialog({ name, onRename, onClose }: RenameProps) {
  const text = useSignal(name)
  const to = text.value || DEFAULT
  return (
    <Dialog title={`Rename ${name}`} onClose={onClose}>
      <Form class="stack" onSubmit={() => onRename(to)}>
        <CollectionField text={text} label="Name" />
        <p class="hint">
          All its documents move to the collection of this name. Keys that are limited to “{name}”
          no longer find them.
        </p>
        <div class="dialog-foot">
          <Button icon="cancel" onClick={onClose}>
            Cancel
          </Button>
          <Button icon="edit" type="submit" class="primary" disabled={to === name}>
            Rename
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
