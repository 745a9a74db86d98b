import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Chunk, Document } from '../../packages/client/src/agent-server.ts'
import { API, attempt, client, messageOf } from '../api.ts'
import { leaveConversation } from '../chat/answering.ts'
import { draftOf, putBack } from '../chat/draft.ts'
import { beginningAbout } from '../chat/follow-ups.ts'
import { chosenCollection, refreshCollections } from '../collections/collections.ts'
import { counted, formatBytes, formatDate, formatNumber } from '../format.ts'
import { principalName } from '../parts/access-list.tsx'
import { ChunkFacts, ChunkText } from '../parts/chunk-facts.tsx'
import { Button } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { Empty, ErrorNote } from '../parts/notes.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { DocumentView } from '../reader/document-view.tsx'
import type { Range } from '../reader/find-words.ts'
import { href, placesIn, routeQuery } from '../route.ts'
import { may } from '../session.ts'
import { DocumentAccessDialog, readersOf } from './access-dialog.tsx'
import { canRetry } from './bulk-work.ts'
import { EditForm, ReplaceButton } from './change-document.tsx'
import { mayChange } from './document-facts.ts'
import { isUnsettled, listAddress } from './document-list.ts'
import { DeleteDialog, DocumentStatusMark, titleOf } from './one-document.tsx'

const POLL_MS = 2_000
const PAGE_SIZE = 50
/** Places in an address; a citation quotes at most three. */
const MAX_PLACES = 10

/** One document: its state, and its content. */
export function DocumentPage({ id }: { id: string }) {
  const document = useSignal<Document | undefined>(undefined)
  const failure = useSignal('')
  const isLeaving = useSignal(false)
  const isEditing = useSignal(false)
  const isSharing = useSignal(false)
  const read = async () => {
    try {
      document.value = await client.documents.get(id)
    } catch (error) {
      failure.value = messageOf(error)
    }
  }
  const act = async (work: () => PromiseLike<unknown>) => {
    if (await attempt(failure, work)) await read()
  }
  const named = placesIn(routeQuery.value)
  const places = named.length > 0 ? named : [{ start: 0, end: 0 }]
  useEffect(() => {
    void refreshCollections()
    void read()
  }, [])
  useEffect(() => {
    if (!document.value || !isUnsettled(document.value)) return
    const timer = setTimeout(() => void read(), POLL_MS)
    return () => clearTimeout(timer)
  }, [document.value])

  const remove = async () => {
    isLeaving.value = false
    if (await attempt(failure, () => client.documents.delete(id))) location.hash = listAddress()
  }
  return (
    <>
      <p>
        <a href={listAddress()}>All documents</a>
      </p>
      <ErrorNote message={failure.value} />
      {!document.value && failure.value === '' && <Skeleton rows={6} />}
      {document.value && (
        <>
          <Head
            document={document.value}
            onRetry={() => void act(() => client.documents.retry(id))}
            onRefresh={() => void act(() => client.documents.refresh(id))}
            onEdit={() => (isEditing.value = true)}
            onShare={() => (isSharing.value = true)}
            onReplaced={() => void read()}
            onFailure={(message) => (failure.value = message)}
            onDelete={() => (isLeaving.value = true)}
          />
          {isEditing.value ? (
            <section class="panel" aria-label="Edit document">
              <EditForm
                document={document.value}
                onChanged={() => void read()}
                onClose={() => (isEditing.value = false)}
              />
            </section>
          ) : (
            <Facts document={document.value} />
          )}
          {/* Drawn anew when the revision that is found changes, or another place is asked for. */}
          {document.value.chunks > 0 && (
            <Shown
              key={`${document.value.servedRevision} ${JSON.stringify(places)}`}
              id={id}
              places={places}
            />
          )}
          <Chunks key={document.value.servedRevision} document={document.value} />
        </>
      )}
      {isSharing.value && document.value && (
        <DocumentAccessDialog
          document={document.value}
          onChanged={() => void read()}
          onClose={() => (isSharing.value = false)}
        />
      )}
      {isLeaving.value && document.value && (
        <DeleteDialog
          document={document.value}
          onConfirm={() => void remove()}
          onClose={() => (isLeaving.value = false)}
        />
      )}
    </>
  )
}

/** The document at the places that the address names, else at its beginning. */
function Shown({ id, places }: { id: string; places: readonly Range[] }) {
  const [first, ...others] = places.slice(0, MAX_PLACES)
  const quotes = useSignal<string[] | undefined>(others.length === 0 ? [] : undefined)
  useEffect(() => {
    if (quotes.value || !first) return
    Promise.all([first, ...others].map((place) => client.documents.text(id, place))).then(
      (texts) => {
        quotes.value = texts
      },
      () => {
        // The view says why.
        quotes.value = []
      },
    )
  }, [])
  if (!first) return null
  const place = { documentId: id, start: first.start, end: (others.at(-1) ?? first).end }
  return (
    <section class="panel stack" aria-labelledby="content">
      <h2 id="content">Content</h2>
      {quotes.value && <DocumentView place={place} quotes={quotes.value} />}
    </section>
  )
}

/** Begins a question where the document is searched: in its own conversation, else in a new one. */
function askAbout(document: Document): void {
  const { conversation } = document
  chosenCollection.value = ''
  if (conversation === undefined) leaveConversation()
  const beginning = beginningAbout(titleOf(document))
  if (!draftOf(conversation).value.startsWith(beginning)) putBack(conversation, beginning, [])
  location.hash = href('chat', ...(conversation === undefined ? [] : [conversation]))
}

function Head(properties: {
  document: Document
  onRetry: () => void
  onRefresh: () => void
  onEdit: () => void
  onShare: () => void
  onReplaced: () => void
  onFailure: (message: string) => void
  onDelete: () => void
}) {
  const { document, onRetry, onRefresh, onEdit, onShare } = properties
  const { onReplaced, onFailure, onDelete } = properties
  const { id, error, file } = document
  return (
    <>
      <div class="page-head">
        <h1 class="document-title">{titleOf(document)}</h1>
        <div class="row">
          {may('chat') && document.chunks > 0 && (
            <Button icon="ask" onClick={() => askAbout(document)}>
              Ask about it
            </Button>
          )}
          {file && (
            <a
              class="button"
              href={`${API}/documents/${encodeURIComponent(id)}/file`}
              download={file.name}
            >
              <Icon name="download" />
              Download original
            </a>
          )}
          {mayChange(document) && (
            <>
              {document.source && (
                <Button icon="refresh" onClick={onRefresh}>
                  Fetch again
                </Button>
              )}
              {canRetry(document) && (
                <Button icon="retry" onClick={onRetry}>
                  Retry
                </Button>
              )}
              {!document.source && (
                <ReplaceButton document={document} onChanged={onReplaced} onFailure={onFailure} />
              )}
              {document.conversation === undefined && (
                <Button icon="share" onClick={onShare}>
                  Access
                </Button>
              )}
              <Button icon="edit" onClick={onEdit}>
                Edit
              </Button>
              <Button icon="delete" class="danger" onClick={onDelete}>
                Delete
              </Button>
            </>
          )}
        </div>
      </div>
      {error && <ErrorNote message={`${error.message} (${error.code})`} />}
    </>
  )
}

function Facts({ document }: { document: Document }) {
  const { id, url, file, source, metadata = {}, chunks, characters, pictures } = document
  const { createdAt, creator } = document
  return (
    <dl class="facts panel">
      <dt>Status</dt>
      <dd>
        <DocumentStatusMark document={document} />
      </dd>
      <dt>Id</dt>
      <dd>
        <code>{id}</code>
      </dd>
      {file && (
        <>
          <dt>File</dt>
          <dd>
            {file.name}, {formatBytes(file.size)}, {file.mediaType}
          </dd>
        </>
      )}
      {source && (
        <>
          <dt>Fetched</dt>
          <dd>
            {formatDate(source.fetchedAt)}: {source.error ?? `answered ${source.status}`}
            {source.nextAt && `; next ${formatDate(source.nextAt)}`}
          </dd>
        </>
      )}
      {url && (
        <>
          <dt>From</dt>
          <dd>{url}</dd>
        </>
      )}
      <dt>Text</dt>
      <dd>
        {formatNumber(characters)} characters in {counted(chunks, 'passage')}
      </dd>
      {pictures && (
        <>
          <dt>Pictures</dt>
          <dd>{progressOf(pictures)}</dd>
        </>
      )}
      <dt>Added</dt>
      <dd>
        {formatDate(createdAt)}
        {creator !== undefined && ` by ${principalName(creator)}`}
      </dd>
      {mayChange(document) && document.conversation === undefined && (
        <>
          <dt>Who may read it</dt>
          <dd>{readersOf(document)}</dd>
        </>
      )}
      {Object.entries(metadata).map(([name, value]) => (
        <>
          <dt key={name}>{name}</dt>
          <dd>{String(value)}</dd>
        </>
      ))}
    </dl>
  )
}

function progressOf({ described, missing, refused, reason }: NonNullable<Document['pictures']>) {
  const counts = [
    `${formatNumber(described)} described`,
    missing > 0 && `${formatNumber(missing)} waiting`,
    refused > 0 && `${formatNumber(refused)} refused`,
  ]
  return `${counts.filter(Boolean).join(', ')}${reason ? `: ${reason}` : ''}`
}

function Chunks({ document: { id, chunks: count, status } }: { document: Document }) {
  const chunks = useSignal<readonly Chunk[]>([])
  const cursor = useSignal<string | undefined>(undefined)
  const failure = useSignal('')
  const isRead = useRef(false)
  const read = (at?: string) =>
    attempt(failure, async () => {
      const page = await client.documents.chunks(id, { limit: PAGE_SIZE }).page(at)
      chunks.value = [...chunks.value, ...page.items]
      cursor.value = page.nextCursor
    })
  if (count === 0) {
    return status === 'failed' ? null : (
      <Empty title="No passages yet">Ingestion is in progress.</Empty>
    )
  }
  return (
    <details
      class="settings"
      onToggle={({ currentTarget }) => {
        if (!currentTarget.open || isRead.current) return
        isRead.current = true
        void read().then((wasRead) => {
          isRead.current = wasRead
        })
      }}
    >
      <summary>
        <h2>Passages ({formatNumber(count)})</h2>
      </summary>
      <ol class="chunks">
        {chunks.value.map((chunk) => (
          <li key={chunk.id} class="panel">
            <ChunkFacts chunk={chunk} />
            <ChunkText text={chunk.text} />
          </li>
        ))}
      </ol>
      <ErrorNote message={failure.value} />
      {cursor.value && (
        <button type="button" onClick={() => void read(cursor.value)}>
          Show more ({formatNumber(chunks.value.length)} of {formatNumber(count)})
        </button>
      )}
    </details>
  )
}
