import { useSignal } from '@preact/signals'
import { Fragment } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Run } from '../../packages/client/src/agent-server.ts'
import { client, messageOf } from '../api.ts'
import { StepView } from '../chat/steps.tsx'
import { counted, formatDate, formatSeconds } from '../format.ts'
import { ChunkText } from '../parts/chunk-facts.tsx'
import { Icon } from '../parts/icon.tsx'
import { Empty, ErrorNote, Status } from '../parts/notes.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { href } from '../route.ts'
import { Stages } from '../search/hits.tsx'
import { person } from '../session.ts'
import { tokensOf } from './token-words.ts'

/** What led to an answer. Where several runs did, as after an approval, the last one is shown, with links to the others. */
export function RunView({
  id,
  answerId,
}: {
  id?: string | undefined
  answerId?: string | undefined
}) {
  const run = useSignal<Run | undefined>(undefined)
  const others = useSignal<readonly string[]>([])
  const failure = useSignal('')
  const isGone = useSignal(false)
  useEffect(() => {
    const left = new AbortController()
    const { signal } = left
    const read = async () => {
      const runs = answerId ? await client.admin.runs({ answerId, signal }) : []
      const runId = id ?? runs[0]?.id
      others.value = runs.map((one) => one.id).filter((one) => one !== runId)
      if (runId === undefined) isGone.value = true
      else run.value = await client.admin.run(runId, { signal })
    }
    read().catch((error: unknown) => {
      if (signal.aborted) return
      if (Object(error).code === 'run_not_found') isGone.value = true
      else failure.value = messageOf(error)
    })
    return () => left.abort()
  }, [id, answerId])
  return (
    <>
      <div class="page-head">
        <h1>Run</h1>
        <a class="button" href={href('activity')}>
          <Icon name="activity" />
          All activity
        </a>
      </div>
      <ErrorNote message={failure.value} />
      {isGone.value && (
        <Empty title="This run is no longer available">
          <p>The server keeps the last runs, for 30 days at most. RUNS_KEPT sets how many.</p>
        </Empty>
      )}
      {!run.value && !isGone.value && failure.value === '' && <Skeleton rows={6} />}
      {run.value && <RunDetails run={run.value} />}
      {others.value.map((other) => (
        <p key={other}>
          <a href={href('activity', other)}>Previous run, which waited for approval</a>
        </p>
      ))}
    </>
  )
}

function RunDetails({ run }: { run: Run }) {
  const { question, searches, modelCalls, toolCalls, error } = run
  const searchedFor = searches[0]?.query
  return (
    <div class="stack run">
      <Facts run={run} />
      <ErrorNote message={error ? `${error.message} (${error.code})` : ''} />
      <section class="stack" aria-labelledby="asked">
        <h2 id="asked">Question</h2>
        <p class="chunk-text" dir="auto">
          {question}
        </p>
        {searchedFor !== undefined && searchedFor !== question && (
          <p class="hint">Searched for: {searchedFor}</p>
        )}
      </section>
      <section class="stack" aria-labelledby="searches">
        <h2 id="searches">{counted(searches.length, 'search').replace(/hs$/, 'hes')}</h2>
        {searches.map((search, place) => (
          <Search key={place} search={search} isOpen={place === 0} />
        ))}
      </section>
      {toolCalls.length > 0 && (
        <section class="stack" aria-labelledby="tool-calls">
          <h2 id="tool-calls">{counted(toolCalls.length, 'tool call')}</h2>
          <ul class="steps">
            {toolCalls.map((call, place) => (
              <StepView key={place} step={{ ...call, callId: `${place}`, input: inputOf(call) }} />
            ))}
          </ul>
        </section>
      )}
      <section class="stack" aria-labelledby="model-calls">
        <h2 id="model-calls">{counted(modelCalls.length, 'model call')}</h2>
        {modelCalls.map((call, place) => (
          <ModelCall key={place} call={call} place={place} />
        ))}
      </section>
    </div>
  )
}

function inputOf({ input }: Run['toolCalls'][number]): unknown {
  try {
    return JSON.parse(input)
  } catch {
    // It was cut.
    return input
  }
}

/** Reasons that are not error codes, and whose names need an explanation. */
const OUTCOMES: Readonly<Record<string, string>> = {
  stop: 'Complete',
  length: 'Cut off because the answer became too long',
  abandoned: 'Stopped because the client disconnected',
}

/** How a run ends that went well. */
export const GOOD_ENDS = ['stop', 'tool_calls', 'approval_required']

/** How a run ended, in words. */
export const outcomeOf = ({ outcome }: Pick<Run, 'outcome'>): string =>
  OUTCOMES[outcome] ?? outcome.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase())

function Facts({ run }: { run: Run }) {
  const { startedAt, milliseconds, firstDelta, usage, key, conversationId, answerId } = run
  const isOwn = key === undefined && run.person === person.value?.id
  const facts = [
    ['Started', formatDate(startedAt)],
    ['Outcome', outcomeOf(run)],
    ['Duration', formatSeconds(milliseconds)],
    ['Time to first text', firstDelta === undefined ? '' : formatSeconds(firstDelta)],
    ['Tokens', usage ? tokensOf(usage) : ''],
    ['Person', run.person ?? ''],
    ['Key', key ?? ''],
  ] as const
  return (
    <dl class="facts panel">
      {facts.map(
        ([name, value]) =>
          value !== '' && (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </Fragment>
          ),
      )}
      {conversationId !== undefined && answerId !== undefined && isOwn && (
        <>
          <dt>Conversation</dt>
          <dd>
            <a href={href('chat', conversationId)}>Open in the chat</a>
          </dd>
        </>
      )}
    </dl>
  )
}

function Search({ search, isOpen }: { search: Run['searches'][number]; isOpen: boolean }) {
  return (
    <details class="settings" open={isOpen}>
      <summary>
        “{search.query}”: {counted(search.hits.length, 'passage')}
      </summary>
      <ol class="hits">
        {search.hits.map((hit, place) => (
          <li key={hit.id} class="panel hit">
            <div class="row spread">
              <h3>
                <span class="place">{place + 1}</span>{' '}
                <a href={href('documents', hit.documentId)}>{hit.title || hit.documentId}</a>
              </h3>
              <span class="score">{hit.score.toFixed(3)}</span>
            </div>
            {hit.heading && <p class="hint">{hit.heading}</p>}
            <ChunkText text={hit.text} isExcerpt />
            <Stages stages={hit.stages} />
          </li>
        ))}
      </ol>
    </details>
  )
}

const ROLES = { system: 'Rules', user: 'User', assistant: 'Model', tool: 'Tool' } as const

function ModelCall({ call, place }: { call: Run['modelCalls'][number]; place: number }) {
  const { same, messages, tools, milliseconds, answer, finishReason, usage } = call
  const facts = [
    milliseconds === undefined ? 'did not finish' : formatSeconds(milliseconds),
    usage && tokensOf(usage),
    finishReason?.replaceAll('_', ' '),
  ]
  return (
    <details class="settings">
      <summary>
        <Status tone={milliseconds === undefined ? 'bad' : 'good'}>
          Call {place + 1}: {facts.filter(Boolean).join(', ')}
        </Status>
      </summary>
      <div class="stack">
        {same > 0 && (
          <p class="hint">Starts with the {counted(same, 'message')} of the previous call.</p>
        )}
        {messages.map((message, index) => (
          <Message key={index} message={message} />
        ))}
        {tools.length > 0 && <p class="hint">Tools offered: {tools.join(', ')}</p>}
        {answer !== undefined && answer !== '' && (
          <div>
            <h3>Answer</h3>
            <pre class="code">{answer}</pre>
          </div>
        )}
      </div>
    </details>
  )
}

function Message({ message }: { message: Run['modelCalls'][number]['messages'][number] }) {
  const { role, content, images, calls = [] } = message
  const called = calls.map((one) => `${one.name} ${one.arguments}`)
  const text = [content, ...called].filter(Boolean).join('\n')
  return (
    <div>
      <h3>{ROLES[role]}</h3>
      <pre class="code">{text}</pre>
      {images !== undefined && <p class="hint">With {counted(images, 'image')}</p>}
    </div>
  )
}
