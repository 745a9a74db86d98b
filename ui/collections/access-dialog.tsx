import { useSignal } from '@preact/signals'
import type { Collection } from '../../packages/client/src/agent-server.ts'
import { attempt, client } from '../api.ts'
import { AccessList, entriesOf, principalName, useAccessDraft } from '../parts/access-list.tsx'
import { Button, Form } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { refreshCollections } from './collections.ts'

/** Whom a collection is shared with, in words; empty where the reader is not told. */
export function sharedWith({ access, contributors = [], owners = [] }: Collection): string {
  if (!access) return ''
  const all = [...new Set([...access, ...contributors, ...owners])]
  return all.length === 0
    ? 'shared with nobody'
    : `shared with ${all.map(principalName).join(', ')}`
}

/** Changes who may do what in a collection. */
export function CollectionAccessDialog({
  collection,
  onClose,
}: {
  collection: Collection
  onClose: () => void
}) {
  const { name } = collection
  const readers = useAccessDraft(collection.access)
  const contributors = useAccessDraft(collection.contributors)
  const owners = useAccessDraft(collection.owners)
  const failure = useSignal('')
  const save = async () => {
    const isSaved = await attempt(failure, () =>
      client.documents.patchCollection(name, {
        access: entriesOf(readers),
        contributors: entriesOf(contributors),
        owners: entriesOf(owners),
        expected: {
          access: collection.access ?? [],
          contributors: collection.contributors ?? [],
          owners: collection.owners ?? [],
        },
      }),
    )
    if (!isSaved) return
    onClose()
    await refreshCollections()
  }
  return (
    <Dialog title={`Access to ${name}`} onClose={onClose}>
      <Form class="stack" onSubmit={save}>
        <AccessList legend="May read" draft={readers} />
        <AccessList legend="May also add documents" draft={contributors} />
        <AccessList
          legend="May also change all documents they can read, and this access"
          draft={owners}
        />
        <p class="hint">
          Documents with access of their own keep it. API keys and administrators are not affected.
        </p>
        <ErrorNote message={failure.value} />
        <div class="dialog-foot">
          <Button icon="cancel" onClick={onClose}>
            Cancel
          </Button>
          <Button icon="save" type="submit" class="primary">
            Save
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
