import { useSignal } from '@preact/signals'
import type { Document } from '../../packages/client/src/agent-server.ts'
import { client } from '../api.ts'
import { CollectionField } from '../collections/collection-chooser.tsx'
import { counted, formatNumber } from '../format.ts'
import { Button, Form } from '../parts/controls.tsx'
import { Confirm, Dialog } from '../parts/dialog.tsx'
import { saveFile } from '../parts/save-file.ts'
import { bulkWork, canRetry, doToAll, exportDocuments, stopBulkWork } from './bulk-work.ts'
import { type DocumentListing, MAX_CHECKED } from './document-list.ts'

/** What can be done to the documents that are checked. */
export function BulkBar({ list, onDone }: { list: DocumentListing; onDone: () => void }) {
  const asking = useSignal<'delete' | 'move' | undefined>(undefined)
  const documents = list.items.value.filter(({ id }) => list.checked.value.has(id))
  const retriable = documents.filter(canRetry)
  const close = () => {
    asking.value = undefined
  }
  const run = async (name: string, chosen: readonly Document[], act: Act) => {
    close()
    list.failure.value = await doToAll(name, chosen, act)
    onDone()
  }
  const exportAll = async () => {
    const { lines, failure } = await exportDocuments(documents)
    list.failure.value = failure
    if (lines.size > 0) saveFile('documents.ndjson', lines)
  }
  if (bulkWork.value) return <Progress />
  if (documents.length === 0) return null
  return (
    <section class="bulk-bar" aria-label="Selected documents">
      <strong>{formatNumber(documents.length)} selected</strong>
      <MoreThanShown list={list} count={documents.length} />
      <span class="row tight bulk-actions">
        {retriable.length > 0 && (
          <Button icon="retry" onClick={() => void run('Retrying', retriable, retryIn(list))}>
            Retry {formatNumber(retriable.length)}
          </Button>
        )}
        <Button icon="move" onClick={() => (asking.value = 'move')}>
          Move to collection
        </Button>
        <Button icon="download" onClick={() => void exportAll()}>
          Export
        </Button>
        <Button icon="delete" class="danger" onClick={() => (asking.value = 'delete')}>
          Delete
        </Button>
        <Button icon="cancel" class="quiet" onClick={() => (list.checked.value = new Set())}>
          Clear selection
        </Button>
      </span>
      {asking.value === 'move' && (
        <MoveDialog
          count={documents.length}
          onClose={close}
          onMove={(collection) => void run('Moving', documents, moveIn(list, collection))}
        />
      )}
      {asking.value === 'delete' && (
        <Confirm
          title={`Delete ${counted(documents.length, 'document')}?`}
          action={`Delete ${formatNumber(documents.length)}`}
          onConfirm={() => void run('Deleting', documents, deleteIn(list))}
          onClose={close}
        >
          <p>Search and chat no longer find them. This cannot be undone.</p>
        </Confirm>
      )}
    </section>
  )
}

type Act = (document: Document, signal: AbortSignal) => PromiseLike<unknown>

export const retryIn =
  (list: DocumentListing): Act =>
  async (document, signal) => {
    const { status } = await client.documents.retry(document.id, { signal })
    const { error: _, ...rest } = document
    list.update({ ...rest, status })
  }

const deleteIn =
  (list: DocumentListing): Act =>
  async ({ id }, signal) => {
    await client.documents.delete(id, { signal })
    list.drop(id)
  }

const moveIn =
  (list: DocumentListing, collection: string): Act =>
  async ({ id }, signal) => {
    const metadata = { collection: collection || null }
    list.update(await client.documents.patch(id, { metadata }, { signal }))
  }

function MoreThanShown({ list, count }: { list: DocumentListing; count: number }) {
  const all = Math.min(list.total.value, MAX_CHECKED)
  if (!list.hasMore.value || count >= all || count < list.items.value.length) return null
  return (
    <Button icon="done" class="quiet" onClick={() => void list.checkAll()}>
      Select all {formatNumber(all)}
    </Button>
  )
}

/** How far the work is that is done to many documents. */
export function Progress() {
  const { name, done, total } = bulkWork.value ?? { name: '', done: 0, total: 1 }
  return (
    <section class="bulk-bar" aria-label={name}>
      <span>
        {name}: {formatNumber(done)} of {formatNumber(total)}
      </span>
      <progress aria-label={name} value={done} max={total} />
      <Button icon="stop" onClick={stopBulkWork}>
        Stop
      </Button>
    </section>
  )
}

function MoveDialog({
  count,
  onMove,
  onClose,
}: {
  count: number
  onMove: (collection: string) => void
  onClose: () => void
}) {
  const collection = useSignal('')
  return (
    <Dialog title={`Move ${counted(count, 'document')}`} onClose={onClose}>
      <Form class="stack" onSubmit={() => onMove(collection.value)}>
        <CollectionField text={collection} />
        <p class="hint">
          A new name creates a collection. Leave it empty for the default collection.
        </p>
        <div class="dialog-foot">
          <Button icon="cancel" onClick={onClose}>
            Cancel
          </Button>
          <Button icon="move" type="submit" class="primary">
            Move
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
