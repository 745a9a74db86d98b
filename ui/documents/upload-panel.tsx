import { useComputed, useSignal } from '@preact/signals'
import { attempt } from '../api.ts'
import { counted, formatBytes, formatNumber } from '../format.ts'
import { Button } from '../parts/controls.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { href } from '../route.ts'
import {
  cancel,
  cancelAll,
  clearFinished,
  documentUploads,
  dropCopies,
  isOpen,
  keepCopies,
  retryFailed,
  type Upload,
} from './uploads.ts'

/** More are counted, not shown. */
const MAX_SHOWN = 100
/** How many uploads in progress are shown. */
const MAX_SENDING = 8

/** What is being sent and what failed; nothing where nothing was sent. */
export function UploadPanel() {
  const open = useComputed(() => documentUploads.value.filter(isOpen))
  const sending = useComputed(() => open.value.filter(({ state }) => state === 'sending'))
  const failed = useComputed(() => documentUploads.value.filter(({ state }) => state === 'failed'))
  const copies = useComputed(() =>
    documentUploads.value.filter(({ sameFile }) => sameFile !== undefined),
  )
  if (documentUploads.value.length === 0) return null
  return (
    <section class="panel uploads stack" aria-labelledby="uploads">
      <div class="row spread">
        <h2 id="uploads">{titleOf(documentUploads.value)}</h2>
        {open.value.length > 0 ? (
          <Button icon="cancel" class="quiet" onClick={() => cancelAll(documentUploads.value)}>
            Cancel all
          </Button>
        ) : (
          <Button icon="cancel" class="quiet" onClick={() => clearFinished(documentUploads.value)}>
            Clear
          </Button>
        )}
      </div>
      {open.value.length > 0 && <Overall />}
      <ul class="upload-list">
        {sending.value.slice(0, MAX_SENDING).map((one) => (
          <Sending key={one.id} upload={one} />
        ))}
      </ul>
      {failed.value.length > 0 && <Failures failed={failed.value} />}
      {copies.value.length > 0 && <Copies copies={copies.value} />}
    </section>
  )
}

function titleOf(all: readonly Upload[]): string {
  const open = all.filter(isOpen).length
  if (open > 0) return `Sending ${counted(open, 'file')}`
  const sent = all.filter(({ state }) => state === 'sent').length
  const cancelled = all.filter(({ state }) => state === 'cancelled').length
  const words = [`${counted(sent, 'file')} sent`]
  if (cancelled > 0) words.push(`${formatNumber(cancelled)} cancelled`)
  return words.join(', ')
}

function Overall() {
  const counting = documentUploads.value.filter(({ state }) => state !== 'cancelled')
  const total = counting.reduce((sum, { file }) => sum + file.size, 0)
  const done = counting.reduce(
    (sum, { state, file, sentBytes }) => sum + (state === 'failed' ? file.size : sentBytes),
    0,
  )
  const over = counting.filter((one) => !isOpen(one)).length
  return (
    <label class="field">
      <span class="hint">
        {formatNumber(over)} of {counted(counting.length, 'file')}, {formatBytes(done)} of{' '}
        {formatBytes(total)}
      </span>
      <progress value={done} max={Math.max(total, 1)} />
    </label>
  )
}

function Sending({ upload: { id, path, file, sentBytes } }: { upload: Upload }) {
  return (
    <li>
      <span class="file-name">{path}</span>
      <progress aria-label={`Sent of ${path}`} value={sentBytes} max={Math.max(file.size, 1)} />
      <Button icon="cancel" about={path} class="quiet" onClick={() => cancel(id)}>
        Cancel
      </Button>
    </li>
  )
}

/** Files that were there already. They were stored all the same: a copy may be wanted elsewhere. */
function Copies({ copies }: { copies: readonly Upload[] }) {
  const failure = useSignal('')
  const isOne = copies.length === 1
  return (
    <div class="copies stack" role="status">
      <div class="row spread">
        <h3>
          {isOne
            ? '1 file was already there'
            : `${counted(copies.length, 'file')} were already there`}
        </h3>
        <span class="row tight">
          <Button icon="done" class="quiet" onClick={() => keepCopies(copies.map(({ id }) => id))}>
            {isOne ? 'Keep both' : 'Keep all'}
          </Button>
          <Button
            icon="delete"
            class="quiet danger"
            onClick={() => void attempt(failure, () => dropCopies(copies))}
          >
            {isOne ? 'Delete the new copy' : 'Delete the new copies'}
          </Button>
        </span>
      </div>
      <ul>
        {copies.slice(0, MAX_SHOWN).map(({ id, path, sameFile = '' }) => (
          <li key={id}>
            <span class="file-name">{path}</span>{' '}
            <a href={href('documents', sameFile)}>Show the earlier one</a>
          </li>
        ))}
      </ul>
      {copies.length > MAX_SHOWN && (
        <p class="hint">And {formatNumber(copies.length - MAX_SHOWN)} more.</p>
      )}
      <ErrorNote message={failure.value} />
    </div>
  )
}

function Failures({ failed }: { failed: readonly Upload[] }) {
  const asText = () => failed.map(({ path, failure }) => `${path}\t${failure}`).join('\n')
  return (
    <div class="failures stack" role="alert">
      <div class="row spread">
        <h3>{counted(failed.length, 'file')} failed</h3>
        <span class="row tight">
          <Button icon="retry" class="quiet" onClick={() => retryFailed(documentUploads.value)}>
            Send again
          </Button>
          <CopyButton text={asText} label="Copy list" />
        </span>
      </div>
      <ul>
        {failed.slice(0, MAX_SHOWN).map(({ id, path, failure }) => (
          <li key={id}>
            <span class="file-name">{path}</span>
            <span class="reason">{failure}</span>
          </li>
        ))}
      </ul>
      {failed.length > MAX_SHOWN && (
        <p class="hint">
          And {formatNumber(failed.length - MAX_SHOWN)} more: copy the list to see all.
        </p>
      )}
    </div>
  )
}
