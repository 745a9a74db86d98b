import { useSignal } from '@preact/signals'
import type {
  Capabilities,
  Readiness,
  RunSummary,
  StorageUse,
  WatchedFolder,
} from '../../packages/client/src/agent-server.ts'
import { ServerPanel } from '../admin/server-panel.tsx'
import { readServerState, serverState, transition } from '../admin/server-state.ts'
import { attempt, client, session } from '../api.ts'
import { asSentence, formatBytes, formatNumber, roughly } from '../format.ts'
import { FirstSteps, type Progress } from '../overview/first-steps.tsx'
import { SAMPLE } from '../overview/sample-document.ts'
import { inShort, isNearlyFull, type Part, partsOf } from '../overview/working-parts.ts'
import { Button, Field } from '../parts/controls.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNote, Status } from '../parts/notes.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { Snippets } from '../parts/snippets.tsx'
import { usePolled } from '../poll.ts'
import { href } from '../route.ts'
import { person } from '../session.ts'

const POLL_MS = 10_000
/** Counting takes a while in a large database. */
const STORAGE_POLL_MS = 300_000
const NEWEST = 20

const readStorageUse = () => client.admin.storage()

async function readAll() {
  await readServerState()
  if (serverState.value?.state !== 'running') return undefined
  const [readiness, capabilities, folders, [last], { items: conversations }] = await Promise.all([
    client.admin.readiness(),
    client.agent.capabilities(),
    client.admin.folders(),
    client.admin.runs(),
    client.conversations.list({ limit: 1 }).page(),
  ])
  const hasAsked = conversations.length > 0
  return {
    readiness,
    capabilities,
    folders,
    last,
    firstSteps: await readProgress(readiness, capabilities, hasAsked),
  }
}

/** What there is of the first steps; undefined once they are done. */
async function readProgress(
  readiness: Readiness,
  capabilities: Capabilities,
  hasAsked: boolean,
): Promise<Progress | undefined> {
  const documents = totalOf(readiness)
  if (documents > 0 && hasAsked) return undefined
  const { model } = capabilities.chat
  return {
    documents,
    hasSample: documents > 0 && (await hasSampleDocument()),
    model: model === 'extractive' ? undefined : model,
    hasAsked,
  }
}

/** Among the newest: a request for one that is not there would be an error in the browser's console. */
async function hasSampleDocument(): Promise<boolean> {
  const { items } = await client.documents.list({ limit: NEWEST }).page()
  return items.some(({ id }) => id === SAMPLE.id)
}

const totalOf = ({ documents = { pending: 0, processing: 0, ready: 0, failed: 0 } }: Readiness) =>
  Object.values(documents).reduce((sum, count) => sum + count, 0)

export function OverviewPage() {
  const { value, failure, refresh } = usePolled(readAll, POLL_MS)
  const known = serverState.value?.state
  const state = known === 'running' ? value.value : undefined
  const isOpening = !state && failure.value === '' && (known ?? 'running') === 'running'
  return (
    <>
      <div class="page-head">
        <h1>Overview</h1>
        <div class="row">
          {state && <StateLine readiness={state.readiness} lost={failure.value !== ''} />}
          {state && !state.firstSteps && (
            <a class="button primary" href={href('chat')}>
              <Icon name="chat" />
              Ask a question
            </a>
          )}
        </div>
      </div>
      {!transition.value && <ErrorNote message={failure.value} />}
      {isOpening && <Skeleton rows={8} />}
      <div class="columns">
        {state && <Running {...state} onChange={() => void refresh()} />}
        {known !== undefined && known !== 'running' && (
          <>
            <ServerPanel />
            {!person.value && <Access />}
          </>
        )}
      </div>
    </>
  )
}

interface RunningProps {
  readiness: Readiness
  capabilities: Capabilities
  folders: readonly WatchedFolder[]
  last: RunSummary | undefined
  firstSteps: Progress | undefined
  onChange: () => void
}

/** What needs somebody comes first. */
function Running({ readiness, capabilities, folders, last, firstSteps, onChange }: RunningProps) {
  const parts = partsOf(readiness, capabilities, folders, last)
  const failing = parts.filter(({ tone }) => tone === 'bad')
  return (
    <>
      {failing.length > 0 && <Parts id="attention" title="Needs attention" parts={failing} />}
      {firstSteps && <FirstSteps state={firstSteps} onDone={onChange} />}
      <Counts readiness={readiness} />
      {!person.value && <Access />}
      <Parts
        id="works"
        title="What works"
        parts={inShort(parts.filter(({ tone }) => tone !== 'bad'))}
      />
      <section class="panel wide" aria-labelledby="begin">
        <h2 id="begin">Use it from a program</h2>
        <Snippets endpoint={location.origin} />
      </section>
      <StoredData />
      <ServerPanel />
    </>
  )
}

function StateLine({ readiness, lost }: { readiness: Readiness; lost: boolean }) {
  if (lost) return <Status tone="bad">Not reachable</Status>
  if (readiness.status === 'not_ready')
    return <Status tone="bad">Running, but a component has failed</Status>
  if (readiness.degraded) return <Status tone="bad">Running, degraded</Status>
  return <Status tone="good">Running</Status>
}

/** Where programs reach the server, and with what. */
function Access() {
  const key = useSignal('')
  const failure = useSignal('')
  const toggle = () =>
    attempt(failure, async () => {
      key.value = key.value === '' ? await session.revealKey() : ''
    })
  return (
    <section class="panel" aria-labelledby="access">
      <h2 id="access">Access</h2>
      <dl class="facts">
        <dt>Endpoint</dt>
        <dd>
          <code>{location.origin}</code>
          <CopyButton text={location.origin} name="endpoint" />
        </dd>
        <dt>Server key</dt>
        <dd>
          <code>{key.value || '••••••••••••'}</code>
          <span class="row tight">
            <Button
              icon={key.value === '' ? 'show' : 'hide'}
              about="server key"
              class="quiet"
              onClick={() => void toggle()}
            >
              {key.value === '' ? 'Show' : 'Hide'}
            </Button>
            <CopyButton text={() => key.value || session.revealKey()} name="server key" />
          </span>
        </dd>
      </dl>
      <ErrorNote message={failure.value} />
      <p class="hint">
        Programs send it with every request, as <code>Authorization: Bearer …</code>.
      </p>
    </section>
  )
}

const COUNTS = [
  ['ready', 'Ready'],
  ['pending', 'Waiting'],
  ['processing', 'Processing'],
  ['failed', 'Failed'],
] as const

function Counts({
  readiness: { documents, embeddings, contexts, pictures, reEmbedding },
}: {
  readiness: Readiness
}) {
  return (
    <section class="panel" aria-labelledby="counts">
      <h2 id="counts">Documents</h2>
      {documents && (
        <dl class="counts">
          {COUNTS.filter(([key]) => key === 'ready' || documents[key] > 0).map(([key, name]) => (
            <div key={key} class={key === 'failed' && documents.failed > 0 ? 'bad' : ''}>
              <dt>{name}</dt>
              <dd>{formatNumber(documents[key])}</dd>
            </div>
          ))}
        </dl>
      )}
      <Backlog
        work={embeddings}
        waiting="passages are not embedded yet and are found by keywords only"
      />
      <Backlog work={contexts} waiting="passages have no context yet and are found without it" />
      <Backlog work={pictures} waiting="pictures are not described yet and are not found" />
      {reEmbedding && (
        <Field label={`Re-embedding with ${reEmbedding.model} (${reEmbedding.state})`}>
          <progress value={reEmbedding.done} max={Math.max(reEmbedding.total, 1)} />
        </Field>
      )}
    </section>
  )
}

interface BacklogWork {
  missing: number
  reason?: string
  seconds?: number
  tokens?: number
}

/** What is done in the background, as long as something is left of it. */
function Backlog({ work, waiting }: { work: BacklogWork | undefined; waiting: string }) {
  if (!work || work.missing === 0) return null
  const { missing, reason, seconds, tokens } = work
  return (
    <p>
      {formatNumber(missing)} {waiting}
      {reason ? `: ${reason}` : '.'}
      {seconds !== undefined && ` Time remaining: ${roughly(seconds)}.`}
      {tokens !== undefined && ` ${formatNumber(tokens)} tokens used since the start.`}
    </p>
  )
}

/** What the database holds, and how far it grows. */
function StoredData() {
  const { value, failure } = usePolled(readStorageUse, STORAGE_POLL_MS)
  return (
    <section class="panel wide" aria-labelledby="stored-data">
      <h2 id="stored-data">Stored data</h2>
      <ErrorNote message={failure.value} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
      <section class="table-place" aria-label="Stored data, with size and limits" tabIndex={0}>
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">Data</th>
              <th scope="col">Entries</th>
              <th scope="col">Size</th>
              <th scope="col">Limit</th>
              <th scope="col">Kept for</th>
            </tr>
          </thead>
          <tbody>
            {value.value?.map((use) => (
              <StorageRow key={use.name} {...use} />
            ))}
          </tbody>
        </table>
      </section>
    </section>
  )
}

function StorageRow(use: StorageUse) {
  const { name, count, bytes, bound, retention } = use
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>
        {isNearlyFull(use) ? (
          <Status tone="bad">{formatNumber(count)}</Status>
        ) : (
          formatNumber(count)
        )}
      </td>
      <td>{bytes !== undefined && formatBytes(bytes)}</td>
      <td>{bound}</td>
      <td>{retention}</td>
    </tr>
  )
}

const PAGE_NAMES = { agent: 'Agent', models: 'Models', documents: 'Documents' } as const

function Parts({ id, title, parts }: { id: string; title: string; parts: readonly Part[] }) {
  return (
    <section class="panel wide" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <ul class="parts">
        {parts.map((part) => (
          <li key={part.name}>
            <span class="part-name">{part.name}</span>
            <Status tone={part.tone}>{part.state}</Status>
            <span class="part-detail">
              {part.remedy ? asSentence(part.detail) : part.detail}{' '}
              {part.remedy && <span class="remedy">{part.remedy}</span>}{' '}
              {part.page && <a href={href(part.page)}>{PAGE_NAMES[part.page]}</a>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
