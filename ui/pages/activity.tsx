import { useSignal } from '@preact/signals'
import { AuditLog } from '../activity/audit.tsx'
import { type Occurrence, occurrences, useActivity } from '../activity/follow.ts'
import { Graphs } from '../activity/graphs.tsx'
import { RunList } from '../activity/run-list.tsx'
import { GOOD_ENDS, outcomeOf, RunView } from '../activity/run-view.tsx'
import { counted, formatNumber, formatSeconds, formatTime } from '../format.ts'
import { bound, Choice } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { Empty, ErrorNote, Status, type Tone } from '../parts/notes.tsx'
import { href, replaceAddress, routeQuery } from '../route.ts'

const KINDS = [
  ['all', 'All'],
  ['run', 'Runs'],
  ['request', 'Requests'],
  ['log', 'Log'],
  ['failed', 'Failures'],
] as const
type Kind = (typeof KINDS)[number][0]
/** More are found by filtering. */
const MAX_SHOWN = 200

const VIEWS = [
  ['', 'Events'],
  ['answers', 'Answers'],
  ['audit', 'Audit log'],
] as const

/** What the server does: the metrics of the last hour, its requests, its runs and its log; who did what; or one run. */
export function ActivityPage({ id }: { id?: string | undefined }) {
  const query = new URLSearchParams(routeQuery.value)
  const answerId = query.get('answer') ?? undefined
  if (id !== undefined || answerId !== undefined)
    return <RunView key={id ?? answerId} id={id} answerId={answerId} />
  const requested = query.get('view')
  const view = VIEWS.find(([one]) => one === requested)?.[0] ?? ''
  return (
    <>
      <div class="page-head">
        <h1>Activity</h1>
        <Choice
          legend="View"
          options={VIEWS}
          chosen={view}
          onChoose={(chosen) =>
            replaceAddress(href('activity') + (chosen === '' ? '' : `?view=${chosen}`))
          }
        />
      </div>
      {view === 'audit' && <AuditLog />}
      {view === 'answers' && <RunList />}
      {view === '' && <WholeActivity />}
    </>
  )
}

function WholeActivity() {
  const failure = useActivity()
  return (
    <>
      <ErrorNote message={failure.value} />
      <section class="stack" aria-labelledby="hour">
        <div class="row">
          <h2 id="hour">The last hour</h2>
          <span class="hint">Updated every ten seconds.</span>
        </div>
        <Graphs />
      </section>
      <Events />
    </>
  )
}

function Events() {
  const kind = useSignal<Kind>('all')
  const words = useSignal('')
  const needle = words.value.trim().toLowerCase()
  const found = occurrences.value.filter(
    (event) =>
      isOfKind(event, kind.value) &&
      (needle === '' || JSON.stringify(event).toLowerCase().includes(needle)),
  )
  return (
    <section class="stack events-place" aria-labelledby="events">
      <div class="row spread">
        <h2 id="events">Events</h2>
        <Choice
          legend="Kind of event"
          options={KINDS}
          chosen={kind.value}
          onChoose={(value) => (kind.value = value)}
        />
        <input
          type="search"
          class="event-words"
          aria-label="Filter events"
          placeholder="Filter events"
          {...bound(words)}
        />
      </div>
      {found.length === 0 ? (
        <Empty title={occurrences.value.length === 0 ? 'Nothing yet' : 'No matching events'}>
          <p>
            Events appear as they happen and are kept until the server restarts. LOG_LEVEL
            determines how much is logged.
          </p>
        </Empty>
      ) : (
        <ol class="events panel">
          {found
            .slice(-MAX_SHOWN)
            .reverse()
            .map((event) => (
              <li key={event.id}>
                <EventRow event={event} />
              </li>
            ))}
        </ol>
      )}
      {found.length > MAX_SHOWN && (
        <p class="hint">
          The last {MAX_SHOWN} of {formatNumber(found.length)}.
        </p>
      )}
    </section>
  )
}

function isOfKind(event: Occurrence, kind: Kind): boolean {
  if (kind === 'failed') return describe(event).tone === 'bad'
  return kind === 'all' || event.type === kind
}

function EventRow({ event }: { event: Occurrence }) {
  const { tone, state, text, details } = describe(event)
  const runId = event.type === 'run' ? event.runId : undefined
  return (
    <>
      <time class="hint" dateTime={event.at}>
        {formatTime(event.at)}
      </time>
      <Status tone={tone}>{state}</Status>
      <div class="event-text">
        {text}
        {runId && (
          <>
            {' '}
            <a href={href('activity', runId)}>
              <Icon name="activity" />
              Show run
            </a>
          </>
        )}
        {details && (
          <details>
            <summary>Details</summary>
            <pre class="code">{details}</pre>
          </details>
        )}
      </div>
      <span class="hint">{'milliseconds' in event && formatSeconds(event.milliseconds)}</span>
    </>
  )
}

interface Line {
  tone: Tone
  state: string
  text: string
  details?: string | undefined
}

const SEVERE = ['error', 'fatal']

function describe(event: Occurrence): Line {
  if (event.type === 'request') return describeRequest(event)
  if (event.type === 'run') {
    const tone = GOOD_ENDS.includes(event.outcome) ? 'good' : 'bad'
    return { tone, state: 'Run', text: wordsOfRun(event) }
  }
  const { level, message: text, details } = event
  const tone = SEVERE.includes(level) ? 'bad' : 'off'
  const line: Line = { tone, state: level, text }
  return Object.keys(details).length === 0
    ? line
    : { ...line, details: JSON.stringify(details, null, 2) }
}

function describeRequest(request: Of<'request'>): Line {
  const { status, method, path, requestId } = request
  const tone = status >= 400 ? 'off' : 'good'
  const line: Line = { tone, state: String(status), text: `${method} ${path}` }
  return status < 500
    ? line
    : { ...line, tone: 'bad', details: requestId && `Request ${requestId}` }
}

type Of<Type> = Extract<Occurrence, { type: Type }>

function wordsOfRun(run: Of<'run'>): string {
  const { firstDelta, promptTokens, completionTokens } = run
  const tools = Object.entries(run.tools).map(([name, count]) =>
    count > 1 ? `${name} × ${count}` : name,
  )
  return [
    outcomeOf(run),
    firstDelta !== undefined && `first text after ${formatSeconds(firstDelta)}`,
    promptTokens !== undefined &&
      `${formatNumber(promptTokens)} + ${counted(completionTokens ?? 0, 'token')}`,
    tools.length > 0 && `tools: ${tools.join(', ')}`,
  ]
    .filter(Boolean)
    .join('; ')
}
