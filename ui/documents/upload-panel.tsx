import { useComputed } from '@preact/signals'
import { counted, formatBytes, formatNumber } from '../format.ts'
import { CopyButton } from '../parts/copy.tsx'
import {
  cancel,
  cancelAll,
  clearFinished,
  documentUploads,
  isOpen,
  retryFailed,
  type Upload,
} from './uploads.ts'

/** More are counted, not shown. */
const MAX_SHOWN = 100

/** What is being sent and what failed; nothing where nothing was sent. */
export function UploadPanel() {
  const open = useComputed(() => documentUploads.value.filter(isOpen))
  const failed = useComputed(() => documentUploads.value.filter(({ state }) => state === 'failed'))
  if (documentUploads.value.length === 0) return null
  return (
    <section class="panel uploads stack" aria-labelledby="uploads">
      <div class="row spread">
        <h2 id="uploads">{titleOf(documentUploads.value)}</h2>
        {open.value.length > 0 ? (
          <button type="button" class="quiet" onClick={() => cancelAll(documentUploads.value)}>
            Cancel all
          </button>
        ) : (
          <button type="button" class="quiet" onClick={() => clearFinished(documentUploads.value)}>
            Clear
          </button>
        )}
      </div>
      {open.value.length > 0 && <Overall />}
      <ul class="upload-list">
        {open.value
          .filter(({ state }) => state === 'sending')
          .map((one) => (
            <Sending key={one.id} upload={one} />
          ))}
      </ul>
      {failed.value.length > 0 && <Failures failed={failed.value} />}
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
      <button type="button" class="quiet" onClick={() => cancel(id)}>
        Cancel<span class="visually-hidden"> {path}</span>
      </button>
    </li>
  )
}

function Failures({ failed }: { failed: readonly Upload[] }) {
  const asText = () => failed.map(({ path, failure }) => `${path}\t${failure}`).join('\n')
  return (
    <div class="failures stack" role="alert">
      <div class="row spread">
        <h3>{counted(failed.length, 'file')} failed</h3>
        <span class="row tight">
          <button type="button" class="quiet" onClick={() => retryFailed(documentUploads.value)}>
            Send again
          </button>
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
