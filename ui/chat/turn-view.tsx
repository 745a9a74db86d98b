import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Artifact, Hit } from '../../client/src/agent-server.ts'
import { API } from '../api.ts'
import { counted, formatBytes, formatNumber, formatSeconds } from '../format.ts'
import { ChunkDialog } from '../parts/chunk.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { ErrorNote, Status } from '../parts/notes.tsx'
import { codeOf, curlOf } from '../parts/request-code.ts'
import { ask, decide } from './answering.ts'
import { isAnswering, requestFor, type Step, type Turn, turns } from './conversation.ts'
import { renderMarkdown } from './markdown.ts'

/** A question and its answer, with all that led to it. */
export function TurnView({ turn, place }: { turn: Turn; place: number }) {
  const opened = useSignal<Hit | undefined>(undefined)
  return (
    <article class="turn" aria-label={`Question ${place + 1}`}>
      <Question turn={turn} place={place} />
      {turn.steps.length > 0 && (
        <ul class="steps">
          {turn.steps.map((step) => (
            <StepView key={step.callId} step={step} />
          ))}
        </ul>
      )}
      <Answer
        turn={turn}
        onCite={(hit) => {
          opened.value = hit
        }}
      />
      {turn.approval && <Waiting turn={turn} />}
      {turn.artifacts.map((artifact) => (
        <ArtifactView key={artifact.id} artifact={artifact} beside={turn.artifacts} />
      ))}
      <Sources
        hits={turn.hits}
        onOpen={(hit) => {
          opened.value = hit
        }}
      />
      <Foot turn={turn} place={place} />
      {opened.value && (
        <ChunkDialog
          hit={opened.value}
          onClose={() => {
            opened.value = undefined
          }}
        />
      )}
    </article>
  )
}

/** Can be changed and asked again, which forgets what came after it. */
function Question({ turn, place }: { turn: Turn; place: number }) {
  const draft = useSignal<string | undefined>(undefined)
  const text = draft.value
  if (text === undefined) {
    return (
      <div class="question">
        <p class="chunk-text">{turn.question}</p>
        <button
          type="button"
          class="quiet"
          disabled={isAnswering.value}
          onClick={() => {
            draft.value = turn.question
          }}
        >
          Edit<span class="visually-hidden"> question {place + 1}</span>
        </button>
      </div>
    )
  }
  const send = () => {
    draft.value = undefined
    void ask(text, place)
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <textarea
        rows={3}
        aria-label="Question"
        value={text}
        onInput={({ currentTarget }) => {
          draft.value = currentTarget.value
        }}
      />
      <div class="row">
        <button type="submit" class="primary" disabled={text.trim() === ''}>
          Ask again
        </button>
        <button
          type="button"
          onClick={() => {
            draft.value = undefined
          }}
        >
          Cancel
        </button>
        {place < turns.value.length - 1 && <span class="hint">What follows is forgotten.</span>}
      </div>
    </form>
  )
}

function Answer({ turn, onCite }: { turn: Turn; onCite: (hit: Hit) => void }) {
  const place = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    place.current?.replaceChildren(renderMarkdown(turn.answer, turn.hits.length))
  }, [turn.answer, turn.hits])
  useLayoutEffect(() => {
    const cite = ({ target }: Event) => {
      const button = target instanceof Element ? target.closest<HTMLElement>('[data-hit]') : null
      const hit = turn.hits[Number(button?.dataset.hit)]
      if (button && hit) onCite(hit)
    }
    place.current?.addEventListener('click', cite)
    return () => place.current?.removeEventListener('click', cite)
  }, [turn.hits])
  return (
    <>
      <div ref={place} class="answer" />
      {turn.state === 'answering' && turn.answer === '' && <Status tone="busy">Answering</Status>}
    </>
  )
}

function StepView({ step: { tool, input, output, isError, milliseconds } }: { step: Step }) {
  const tone = isError ? 'bad' : milliseconds === undefined ? 'busy' : 'good'
  return (
    <li>
      <details>
        <summary>
          <Status tone={tone}>
            {tool}
            {milliseconds !== undefined && <span class="hint"> {formatSeconds(milliseconds)}</span>}
          </Status>
        </summary>
        <div class="stack">
          <pre class="code">{JSON.stringify(input, null, 2)}</pre>
          {output !== undefined && <pre class="code">{output}</pre>}
        </div>
      </details>
    </li>
  )
}

/** Calls that wait for a word, with all that they would do. */
function Waiting({ turn }: { turn: Turn }) {
  return (
    <section class="stack note" aria-label="Waits for approval">
      {turn.approval?.calls.map(({ callId, tool, input }) => (
        <div key={callId} class="stack">
          <p>
            <strong>{tool}</strong> waits for your approval:
          </p>
          <pre class="code">{JSON.stringify(input, null, 2)}</pre>
        </div>
      ))}
      <div class="row">
        <button
          type="button"
          class="primary"
          disabled={isAnswering.value}
          onClick={() => void decide(turn, true)}
        >
          Approve
        </button>
        <button type="button" disabled={isAnswering.value} onClick={() => void decide(turn, false)}>
          Refuse
        </button>
      </div>
    </section>
  )
}

/** A picture where it is one, else a file to keep; what is older than a week may be gone. */
function ArtifactView({
  artifact: { name, mediaType, size, url },
  beside,
}: {
  artifact: Artifact
  beside: readonly Artifact[]
}) {
  const isGone = useSignal(false)
  const address = `${API}${url}`
  // A chart comes as both, and is shown once.
  const isTwin = beside.some((other) => other.name === name.replace(/\.svg$/, '.png'))
  const isPicture = /^image\/(?:png|jpeg|gif|webp)$/.test(mediaType)
  const isDrawing = mediaType === 'image/svg+xml' && !isTwin
  return (
    <figure class="artifact">
      {(isPicture || isDrawing) && !isGone.value && (
        <img
          src={address}
          alt={name}
          onError={() => {
            isGone.value = true
          }}
        />
      )}
      <figcaption class="row">
        {isGone.value ? (
          <span class="reason">{name} is no longer kept: ask for it again.</span>
        ) : (
          <a href={address} download={name}>
            {name}
          </a>
        )}
        <span class="hint">{formatBytes(size)}</span>
      </figcaption>
    </figure>
  )
}

function Sources({ hits, onOpen }: { hits: readonly Hit[]; onOpen: (hit: Hit) => void }) {
  if (hits.length === 0) return null
  return (
    <details class="settings">
      <summary>{counted(hits.length, 'source')}</summary>
      <ol class="sources">
        {hits.map((hit, index) => (
          <li key={hit.id}>
            <span class="place">{index + 1}</span>
            <button type="button" class="link" onClick={() => onOpen(hit)}>
              {hit.title || hit.documentId}
            </button>
          </li>
        ))}
      </ol>
    </details>
  )
}

const ENDINGS: Partial<Record<NonNullable<Turn['finishReason']>, string>> = {
  length: 'The model broke off: its answer had become too long.',
  content_filter: 'The model broke off: its filter did not let the answer pass.',
  round_limit: 'Ended by the limit of rounds in agent.json.',
  call_limit: 'Ended by the limit of tool calls in agent.json.',
  time_limit: 'Ended by the limit of time in agent.json.',
  token_limit: 'Ended by the limit of tokens in agent.json.',
}

function Foot({ turn, place }: { turn: Turn; place: number }) {
  const { state, failure, finishReason, milliseconds, tokens } = turn
  if (state === 'answering') return null
  const facts = [formatSeconds(milliseconds), tokens && `${formatNumber(tokens)} tokens`]
  const request = () => requestFor(turn.question, turns.value.slice(0, place))
  return (
    <div class="stack turn-foot">
      <ErrorNote message={failure} />
      {state === 'stopped' && <p class="hint">Stopped.</p>}
      {finishReason && ENDINGS[finishReason] && <p class="note">{ENDINGS[finishReason]}</p>}
      <div class="row tight">
        <span class="hint">{facts.filter(Boolean).join(', ')}</span>
        <CopyButton text={turn.answer} name="answer" />
        <CopyButton text={() => curlOf('/chat', request(), '-N ')} label="Copy as curl" />
        <CopyButton text={() => codeOf('chat', request())} label="Copy as code" />
        <button
          type="button"
          class="quiet"
          disabled={isAnswering.value}
          onClick={() => void ask(turn.question, place)}
        >
          Retry
        </button>
      </div>
    </div>
  )
}
