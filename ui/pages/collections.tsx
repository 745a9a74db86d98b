import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { attempt, client } from '../api.ts'
import { CollectionField } from '../collections/collection-chooser.tsx'
import { CollectionEntry } from '../collections/collection-entry.tsx'
import { collections, collectionsFailure, refreshCollections } from '../collections/collections.ts'
import { Progress } from '../documents/bulk-bar.tsx'
import { bulkWork } from '../documents/bulk-work.ts'
import { Button, Form } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Empty, ErrorNote } from '../parts/notes.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { href } from '../route.ts'
import { may } from '../session.ts'

/** The collections with what can be done to each. */
export function CollectionsPage() {
  useEffect(() => void refreshCollections(), [])
  const listed = collections.value
  const isAdding = useSignal(false)
  return (
    <>
      <div class="page-head">
        <h1>Collections</h1>
        <div class="row">
          <a class="button" href={href('documents')}>
            All documents
          </a>
          {may('ingest') && (
            <Button icon="add" class="primary" onClick={() => (isAdding.value = true)}>
              New collection
            </Button>
          )}
        </div>
      </div>
      <p class="hint">
        A document is in one collection. Chat and Search can be limited to one, and so can a{' '}
        {may('admin') ? <a href={href('keys')}>key</a> : 'key'}. <b>Access</b> sets who may read it.
      </p>
      <ErrorNote message={collectionsFailure.value} />
      {bulkWork.value && <Progress />}
      {!listed && collectionsFailure.value === '' && <Skeleton rows={4} />}
      {listed?.length === 0 && <Empty title="No documents yet">Add some first.</Empty>}
      <ul class="collections">
        {listed?.map((each) => (
          <CollectionEntry key={each.name} collection={each} />
        ))}
      </ul>
      {isAdding.value && <NewDialog onClose={() => (isAdding.value = false)} />}
    </>
  )
}

function NewDialog({ onClose }: { onClose: () => void }) {
  const name = useSignal('')
  const failure = useSignal('')
  const add = async () => {
    if (!(await attempt(failure, () => client.documents.createCollection({ name: name.value }))))
      return
    onClose()
    await refreshCollections()
  }
  return (
    <Dialog title="New collection" onClose={onClose}>
      <Form class="stack" onSubmit={add}>
        <CollectionField text={name} label="Name" />
        <p class="hint">It is shared with nobody until you say with whom, under Access.</p>
        <ErrorNote message={failure.value} />
        <div class="dialog-foot">
          <Button icon="cancel" onClick={onClose}>
            Cancel
          </Button>
          <Button icon="add" type="submit" class="primary" disabled={name.value === ''}>
            Create
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
