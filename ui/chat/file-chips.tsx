import { useComputed } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Document } from '../../packages/client/src/agent-server.ts'
import { cancel, clearFinished, isOpen, retryFailed, type Upload } from '../documents/uploads.ts'
import { asSentence } from '../format.ts'
import { Button } from '../parts/controls.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { href } from '../route.ts'
import { conversationId } from './conversation.ts'
import {
  arriving,
  awaitsFiles,
  fileFailure,
  fileNews,
  files,
  isUnread,
  keepFile,
  refreshFiles,
  removeFile,
} from './files.ts'

const POLL_MS = 700

/** The files of the conversation, each with what becomes of it. */
export function FileChips() {
  useFiles()
  const count = files.value.length + arriving.value.length
  return (
    <>
      <ErrorNote message={fileFailure.value} />
      <p class={fileNews.value ? 'hint' : 'visually-hidden'} role="status">
        {fileNews.value}
      </p>
      {count > 0 && (
        <section class="files" aria-labelledby="files-title">
          <h2 id="files-title" class="hint">
            Only in this conversation
          </h2>
          <ul>
            {files.value.map((document) => (
              <FileChip key={document.id} document={document} />
            ))}
            {arriving.value.map((upload) => (
              <UploadChip key={upload.id} upload={upload} />
            ))}
          </ul>
          {awaitsFiles.value && (
            <p class="hint">You can send your question as soon as the files have been read.</p>
          )}
        </section>
      )}
    </>
  )
}

/** Reads the files of each conversation that is shown, and again while one is not read yet. */
function useFiles(): void {
  const shown = conversationId.value
  useEffect(() => void refreshFiles(), [shown])
  const isReading = useComputed(() => files.value.some(isUnread))
  useEffect(() => {
    if (!isReading.value) return
    const timer = setInterval(() => {
      if (!document.hidden) void refreshFiles()
    }, POLL_MS)
    return () => clearInterval(timer)
  }, [isReading.value])
}

function FileChip({ document }: { document: Document }) {
  const { id, status, error } = document
  const name = document.title ?? document.file?.name ?? id
  return (
    <li class={status === 'failed' ? 'chip failed' : 'chip'}>
      <a class="file-name" href={href('documents', id)}>
        {name}
      </a>
      {isUnread(document) && <span class="hint">Reading…</span>}
      {status === 'failed' && (
        <span class="reason">{asSentence(error?.message ?? 'The file cannot be read')}</span>
      )}
      {status === 'ready' && (
        <Button icon="addFolder" about={name} class="quiet" onClick={() => void keepFile(document)}>
          Keep in documents
        </Button>
      )}
      <RemoveButton name={name} onRemove={() => void removeFile(document)} />
    </li>
  )
}

function UploadChip({ upload }: { upload: Upload }) {
  const { id, path, file, state, sentBytes, failure } = upload
  if (state === 'failed') {
    return (
      <li class="chip failed">
        <span class="file-name">{path}</span>
        <span class="reason">{asSentence(failure)}</span>
        <Button icon="retry" about={path} class="quiet" onClick={() => retryFailed([upload])}>
          Send again
        </Button>
        <RemoveButton name={path} onRemove={() => clearFinished([upload])} />
      </li>
    )
  }
  return (
    <li class="chip">
      <span class="file-name">{path}</span>
      <progress aria-label={`Sent of ${path}`} value={sentBytes} max={Math.max(file.size, 1)} />
      <RemoveButton name={path} onRemove={() => isOpen(upload) && cancel(id)} />
    </li>
  )
}

export function RemoveButton({ name, onRemove }: { name: string; onRemove: () => void }) {
  return (
    <Button icon="cancel" class="quiet remove" aria-label={`Remove ${name}`} onClick={onRemove} />
  )
}
