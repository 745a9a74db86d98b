import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Collection } from '../../packages/client/src/agent-server.ts'
import { attempt, client } from '../api.ts'
import { leaveConversation } from '../chat/answering.ts'
import { CollectionField } from '../collections/collection-chooser.tsx'
import {
  chosenCollection,
  collections,
  collectionsFailure,
  refreshCollections,
} from '../collections/collections.ts'
import { Progress } from '../documents/bulk-bar.tsx'
import { bulkWork, doToAll } from '../documents/bulk-work.ts'
import { addressOf, readShown } from '../documents/shown-documents.ts'
import { counted } from '../format.ts'
import { Button, Form } from '../parts/controls.tsx'
import { Confirm, Dialog } from '../parts/dialog.tsx'
import { Empty, ErrorNote } from '../parts/notes.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { href } from '../route.ts'
import { may } from '../session.ts'

/** The collections with what can be done to each. */
export function CollectionsPage() {
  useEffect(() => void refreshCollections(), [])
  const listed = collections.value
  return (
    <>
      <div class="page-head">
        <h1>Collections</h1>
        <a class="button" href={href('documents')}>
          All documents
        </a>
      </div>
      <p class="hint">
        A document is in one collection. Chat and Search can be limited to one, and so can a{' '}
        {may('admin') ? <a href={href('keys')}>key</a> : 'key'}. To begin a new one, add documents
        under its name.
      </p>
      <ErrorNote message={collectionsFailure.value} />
      {bulkWork.value && <Progress />}
      {!listed && collectionsFailure.value === '' && <Skeleton rows={4} />}
      {listed?.length === 0 && <Empty title="No documents yet">Add some first.</Empty>}
      <ul class="collections">
        {listed?.map((each) => (
          <CollectionEntry key={each.name} {...each} />
        ))}
      </ul>
    </>
  )
}

function CollectionEntry({ name, documents }: Collection) {
  const failure = useSignal('')
  const isRenaming = useSignal(false)
  /** How many documents there are to delete, those included that are not found yet. */
  const doomed = useSignal<number | undefined>(undefined)
  const countDoomed = async () => {
    doomed.value = (await client.documents.deleteAll({ collection: name, dryRun: true })).matched
  }
  const remove = async () => {
    const { value: confirm } = doomed
    doomed.value = undefined
    await attempt(failure, () => client.documents.deleteAll({ collection: name, confirm }))
    await refreshCollections()
  }
  const rename = async (to: string) => {
    isRenaming.value = false
    await attempt(failure, async () => {
      const members = await Array.fromAsync(client.documents.list({ collection: name }))
      const metadata = { collection: to === '' || to === 'default' ? null : to }
      failure.value = await doToAll('Moving', members, ({ id }, signal) =>
        client.documents.patch(id, { metadata }, { signal }),
      )
    })
    if (chosenCollection.value === name) chosenCollection.value = to
    await refreshCollections()
  }
  return (
    <li class="panel row spread">
      <span>
        <a href={addressOf({ ...readShown(''), collection: name })}>{name}</a>{' '}
        <span class="hint">{counted(documents, 'document')}</span>
      </span>
      <span class="row tight">
        <Button
          icon="ask"
          class="quiet"
          about={`about ${name}`}
          onClick={() => {
            chosenCollection.value = name
            leaveConversation()
            location.hash = href('chat')
          }}
        >
          Ask
        </Button>
        <Button
          icon="edit"
          class="quiet"
          about={name}
          disabled={bulkWork.value !== undefined}
          onClick={() => (isRenaming.value = true)}
        >
          Rename
        </Button>
        <Button
          icon="delete"
          class="quiet danger"
          about={name}
          onClick={() => void attempt(failure, countDoomed)}
        >
          Delete
        </Button>
      </span>
      <ErrorNote message={failure.value} />
      {isRenaming.value && (
        <RenameDialog
          name={name}
          onRename={(to) => void rename(to)}
          onClose={() => (isRenaming.value = false)}
        />
      )}
      {doomed.value !== undefined && (
        <Confirm
          title={`Delete ${counted(doomed.value, 'document')} of ${name}?`}
          action="Delete all"
          onConfirm={() => void remove()}
          onClose={() => (doomed.value = undefined)}
        >
          <p>Search and chat no longer find them. This cannot be undone.</p>
        </Confirm>
      )}
    </li>
  )
}

function RenameDialog({
  name,
  onRename,
  onClose,
}: {
  name: string
  onRename: (to: string) => void
  onClose: () => void
}) {
  const to = useSignal(name)
  return (
    <Dialog title={`Rename ${name}`} onClose={onClose}>
      <Form class="stack" onSubmit={() => onRename(to.value.trim())}>
        <CollectionField text={to} label="Name" />
        <p class="hint">
          All its documents move to the collection of this name. Keys that are limited to “{name}”
          no longer find them.
        </p>
        <div class="dialog-foot">
          <Button icon="cancel" onClick={onClose}>
            Cancel
          </Button>
          <Button icon="edit" type="submit" class="primary" disabled={to.value.trim() === name}>
            Rename
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
