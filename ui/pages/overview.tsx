import { useSignal } from '@preact/signals'
import type { Capabilities, Readiness } from '../../client/src/agent-server.ts'
import { ServerPanel } from '../admin/server-panel.tsx'
import { readServerState, serverState, transition } from '../admin/server-state.ts'
import { client, messageOf, session } from '../api.ts'
import { asSentence, formatNumber, roughly } from '../format.ts'
import { CopyButton } from '../parts/copy.tsx'
import { ErrorNote, Status } from '../parts/notes.tsx'
import { partsOf } from '../parts/overview-parts.ts'
import { Snippets } from '../parts/snippets.tsx'
import { usePolled } from '../poll.ts'
import { href } from '../route.ts'

const POLL_MS = 10_000

async function readAll() {
  await readServerState()
  if (serverState.value?.state !== 'running') return undefined
  const [readiness, capabilities] = await Promise.all([
    client.admin.readiness(),
    client.agent.capabilities(),
  ])
  return { readiness, capabilities }
}

export function OverviewPage() {
  const { value, failure } = usePolled(readAll, POLL_MS)
  const state = serverState.value?.state === 'running' ? value.value : undefined
  return (
    <>
      <div class="page-head">
        <h1>Overview</h1>
        {state && <StateLine readiness={state.readiness} lost={failure.value !== ''} />}
      </div>
      {!transition.value && <ErrorNote message={failure.value} />}
      <div class="columns">
        <ServerPanel />
        <Access />
        {state && (
          <>
            <Counts readiness={state.readiness} />
            <Works readiness={state.readiness} capabilities={state.capabilities} />
            <section class="panel wide" aria-labelledby="begin">
              <h2 id="begin">Use it from a program</h2>
              <Snippets endpoint={location.origin} />
            </section>
          </>
        )}
      </div>
    </>
  )
}

function StateLine({ readiness, lost }: { readiness: Readiness; lost: boolean }) {
  if (lost) return <Status tone="bad">Not reachable</Status>
  if (readiness.status === 'not_ready') return <Status tone="bad">Running, but a part fails</Status>
  if (readiness.degraded) return <Status tone="bad">Running, degraded</Status>
  return <Status tone="good">Running</Status>
}

/** Where programs reach the server, and with what. */
function Access() {
  const key = useSignal('')
  const failure = useSignal('')
  const toggle = async () => {
    failure.value = ''
    try {
      key.value = key.value === '' ? await session.revealKey() : ''
    } catch (error) {
      failure.value = messageOf(error)
    }
  }
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
            <button type="button" class="quiet" onClick={() => void toggle()}>
              {key.value === '' ? 'Reveal' : 'Hide'}
              <span class="visually-hidden"> server key</span>
            </button>
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

function Counts({ readiness: { documents, meaning, reindex } }: { readiness: Readiness }) {
  const total = documents && Object.values(documents).reduce((sum, count) => sum + count, 0)
  return (
    <section class="panel" aria-labelledby="counts">
      <h2 id="counts">Documents</h2>
      {documents && (
        <dl class="counts">
          {COUNTS.map(([key, name]) => (
            <div key={key} class={key === 'failed' && documents.failed > 0 ? 'bad' : ''}>
              <dt>{name}</dt>
              <dd>{formatNumber(documents[key])}</dd>
            </div>
          ))}
        </dl>
      )}
      {total === 0 && (
        <p>
          There are none yet. <a href={href('documents')}>Add the first one</a>, then{' '}
          <a href={href('chat')}>ask about it</a>.
        </p>
      )}
      {meaning && meaning.missing > 0 && (
        <p>
          {formatNumber(meaning.missing)} passages are found by words, and not yet by meaning
          {meaning.reason ? `: ${meaning.reason}` : '.'}
          {meaning.seconds !== undefined && ` It takes ${roughly(meaning.seconds)} more.`}
        </p>
      )}
      {reindex && (
        <label class="field">
          <span class="label">
            Embedding again with {reindex.model} ({reindex.state})
          </span>
          <progress value={reindex.done} max={Math.max(reindex.total, 1)} />
        </label>
      )}
    </section>
  )
}

const PAGE_NAMES = { agent: 'Agent', models: 'Models' } as const

function Works(state: { readiness: Readiness; capabilities: Capabilities }) {
  return (
    <section class="panel wide" aria-labelledby="works">
      <h2 id="works">What works</h2>
      <ul class="parts">
        {partsOf(state.readiness, state.capabilities).map((part) => (
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
