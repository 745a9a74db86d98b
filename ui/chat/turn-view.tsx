import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Artifact, Citation, Hit } from '../../packages/client/src/agent-server.ts'
import { API, attempt } from '../api.ts'
import { counted, formatBytes, formatNumber, formatSeconds } from '../format.ts'
import { placeOf } from '../parts/chunk-facts.tsx'
import { Button, Form } from '../parts/controls.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { DataPicture } from '../parts/data-picture.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { ErrorNote, Status } from '../parts/notes.tsx'
import { codeOf, curlOf } from '../parts/request-code.ts'
import { openReader, titleOf } from '../reader/reader.tsx'
import { href } from '../route.ts'
import { may } from '../session.ts'
import { beginning, drawAnswer, MAX_DRAWN } from './answer-drawing.ts'
import { AnswerFeedback } from './answer-feedback.tsx'
import { ask, decide } from './answering.ts'
import { Citations, markUnsupported } from './citations.tsx'
import {
  allTurns,
  chooseVersion,
  conversationId,
  isAnswering,
  isReadOnly,
  requestFor,
  turns,
} from './conversation.ts'
import { draftOf, putBack } from './draft.ts'
import { withSources } from './export.ts'
import { QuestionField } from './question-field.tsx'
import { Steps } from './steps.tsx'
import { type FinishReason, type Turn, versionsOf } from './turns.ts'
import { type Decision, Waiting } from './waiting.tsx'

/** A question and its answer, with all that led to it. */
export function TurnView({ turn, place }: { turn: Turn; place: number }) {
  return (
    <article class="turn" aria-label={`Question ${place + 1}`}>
      {/* Headings of the answer stand below it. */}
      <h2 class="visually-hidden">Question {place + 1}</h2>
      <Question turn={turn} place={place} />
      <WholeAnswer
        turn={turn}
        isBusy={isAnswering.value}
        onDecide={(decision) => void decide(turn, decision)}
      />
      <Foot turn={turn} place={place} />
    </article>
  )
}

/** An answer with its steps, what waits for approval, files and sources. */
export function WholeAnswer({
  turn,
  isBusy,
  onDecide,
}: {
  turn: Turn
  isBusy: boolean
  onDecide: (decision: Decision) => void
}) {
  return (
    <>
      <Reasoning text={turn.reasoning} />
      <Steps steps={turn.steps} isAnswering={turn.state === 'answering'} />
      <Answer turn={turn} />
      {turn.approval && !isReadOnly.value && (
        <Waiting approval={turn.approval} isBusy={isBusy} onDecide={onDecide} />
      )}
      {turn.artifacts.map((artifact) => (
        <ArtifactView key={artifact.id} artifact={artifact} beside={turn.artifacts} />
      ))}
      <Sources hits={turn.hits} citations={turn.citations} />
    </>
  )
}

/** Can be edited and sent again, as another version beside it. */
function Question({ turn, place }: { turn: Turn; place: number }) {
  const draft = draftOf(turn.id)
  const isOpen = useSignal(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const edit = useRef<HTMLButtonElement>(null)
  const failure = useSignal('')
  const text = draft.value
  const wasOpen = useRef(false)
  useLayoutEffect(() => {
    if (isOpen.value) {
      field.current?.focus()
      field.current?.setSelectionRange(text.length, text.length)
    } else if (wasOpen.current) edit.current?.focus()
    wasOpen.current = isOpen.value
  }, [isOpen.value])
  if (!isOpen.value && text === '') {
    return (
      <div class="question">
        <div class="stack">
          <p class="chunk-text" dir="auto">
            {turn.question}
          </p>
          {turn.images.map((url, index) => (
            <DataPicture key={index} url={url} alt={`Attachment ${index + 1}`} />
          ))}
          <ErrorNote message={failure.value} />
        </div>
        <div class="row tight">
          <Versions turn={turn} failure={failure} />
          {!isReadOnly.value && (
            <Button
              icon="edit"
              about={`question ${place + 1}`}
              ref={edit}
              class="quiet"
              disabled={isAnswering.value}
              onClick={() => {
                draft.value = turn.question
                isOpen.value = true
              }}
            >
              Edit
            </Button>
          )}
        </div>
      </div>
    )
  }
  const close = () => {
    draft.value = ''
    isOpen.value = false
  }
  const send = async () => {
    if (text.trim() === '' || isAnswering.value) return
    close()
    const wasAsked = await ask(text, turns.value[place - 1] ?? 'start', turn.images)
    if (wasAsked) return
    // The conversation is gone.
    if (conversationId.value === undefined) putBack(undefined, text, [])
    else draft.value = text
  }
  return (
    <Form class="stack" onSubmit={send}>
      <QuestionField
        label="Question"
        placeholder=""
        question={draft}
        field={field}
        onAsk={() => void send()}
      />
      <div class="row">
        <Button
          icon="send"
          type="submit"
          class="primary"
          disabled={text.trim() === '' || isAnswering.value}
        >
          Ask again
        </Button>
        <Button icon="cancel" onClick={close}>
          Cancel
        </Button>
        {place < turns.value.length - 1 && (
          <span class="hint">Later messages are kept as another version.</span>
        )}
      </div>
    </Form>
  )
}

/** Leads to the other versions of a question and its answer, with what followed them. */
function Versions({ turn, failure }: { turn: Turn; failure: Signal<string> }) {
  const all = versionsOf(allTurns.value, turn)
  const place = all.findIndex(({ id }) => id === turn.id)
  if (all.length < 2) return null
  const step = (name: string, icon: IconName, to: Turn | undefined) => (
    <Button
      icon={icon}
      class="quiet"
      aria-label={`${name} version`}
      disabled={!to || isAnswering.value}
      onClick={() => to && void attempt(failure, () => chooseVersion(to))}
    />
  )
  return (
    <span class="versions">
      {step('Previous', 'previous', all[place - 1])}
      <span class="hint">
        <span class="visually-hidden">Version </span>
        {place + 1} / {all.length}
      </span>
      {step('Next', 'next', all[place + 1])}
    </span>
  )
}

function Answer({ turn }: { turn: Turn }) {
  const place = useRef<HTMLDivElement>(null)
  const drawn = useSignal(MAX_DRAWN)
  const shown = beginning(turn.answer, drawn.value)
  useLayoutEffect(() => {
    if (!place.current) return
    const isAwaiting = turn.state === 'answering' && turn.hits.length === 0
    drawAnswer(place.current, shown, isAwaiting ? 'awaited' : turn.hits.length)
    markUnsupported(place.current, turn.citations)
  }, [shown, turn.state, turn.hits, turn.citations])
  const more = turn.answer.length - shown.length
  return (
    <>
      <Citations hits={turn.hits} citations={turn.citations}>
        <div ref={place} class="answer" dir="auto" />
      </Citations>
      {more > 0 && (
        <Button icon="next" onClick={() => (drawn.value += MAX_DRAWN)}>
          Show more of the answer ({formatNumber(more)} characters)
        </Button>
      )}
      {turn.state === 'answering' && (turn.answer === '' || turn.isLost) && (
        <Progress turn={turn} />
      )}
    </>
  )
}

/** Shows the current step, and for how long it has run. */
function Progress({ turn: { progress = 'Searching the documents' } }: { turn: Turn }) {
  const seconds = useSignal(0)
  useEffect(() => {
    const timer = setInterval(() => {
      seconds.value += 1
    }, 1_000)
    return () => clearInterval(timer)
  }, [])
  return (
    <Status tone="busy">
      {progress}
      {seconds.value >= FEW_SECONDS && (
        <span class="hint" aria-hidden="true">
          {' '}
          {seconds.value} s, Esc to stop
        </span>
      )}
    </Status>
  )
}

/** A shorter wait needs no number. */
const FEW_SECONDS = 3

/** A picture as such, any other file as a download; files older than a week may be gone. */
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
        <img src={address} alt={name} onError={() => (isGone.value = true)} />
      )}
      <figcaption class="row">
        {isGone.value ? (
          <span class="reason">{name} is no longer kept: ask for it again.</span>
        ) : (
          <a class="button quiet" href={address} download={name}>
            <Icon name="download" />
            {name}
          </a>
        )}
        <span class="hint">{formatBytes(size)}</span>
      </figcaption>
    </figure>
  )
}

/** The cited passages first; those that were only found are folded. */
function Sources({ hits, citations }: { hits: readonly Hit[]; citations: readonly Citation[] }) {
  if (hits.length === 0) return null
  const numbers = new Set(citations.map(({ number }) => number))
  const cited = hits.filter((_, index) => numbers.has(index + 1))
  const others = hits.filter((_, index) => !numbers.has(index + 1))
  if (cited.length === 0) {
    return (
      <details class="settings">
        <summary>{counted(hits.length, 'passage')} found</summary>
        <SourceList all={hits} shown={hits} />
      </details>
    )
  }
  return (
    <details class="settings">
      <summary>{counted(cited.length, 'source')} cited</summary>
      <SourceList all={hits} shown={cited} />
      {others.length > 0 && (
        <details class="settings">
          <summary>{counted(others.length, 'other passage')} found</summary>
          <SourceList all={hits} shown={others} />
        </details>
      )}
    </details>
  )
}

/** With the numbers that the answer cites them by. */
function SourceList({ all, shown }: { all: readonly Hit[]; shown: readonly Hit[] }) {
  return (
    <ol class="sources">
      {shown.map((hit) => (
        <li key={hit.id}>
          <span class="place">{all.indexOf(hit) + 1}</span>
          <button
            type="button"
            class="link"
            dir="auto"
            onClick={({ currentTarget }) => openReader({ hit, quotes: [] }, currentTarget)}
          >
            {titleOf(hit)}
          </button>
          <span class="hint">{placeOf(hit)}</span>
        </li>
      ))}
    </ol>
  )
}

/** What the model thought before it answered. */
function Reasoning({ text }: { text: string }) {
  if (text === '') return null
  return (
    <details class="settings">
      <summary>Thinking</summary>
      <p class="chunk-text hint" dir="auto">
        {text}
      </p>
    </details>
  )
}

export const ENDINGS: Partial<Record<FinishReason, string>> = {
  interrupted: 'Interrupted: the server stopped before the answer was complete.',
  length: 'The answer was cut off because it became too long.',
  content_filter: 'The answer was stopped by the model’s content filter.',
  round_limit: 'Stopped by the limit on rounds in agent.json.',
  call_limit: 'Stopped by the limit on tool calls in agent.json.',
  time_limit: 'Stopped by the time limit in agent.json.',
  token_limit: 'Stopped by the limit on tokens in agent.json.',
}

function Foot({ turn, place }: { turn: Turn; place: number }) {
  const { state, failure, finishReason, milliseconds, tokens } = turn
  if (state === 'answering') return null
  const facts = [formatSeconds(milliseconds), tokens && `${formatNumber(tokens)} tokens`]
  const request = () => requestFor(turn, turns.value.slice(0, place))
  return (
    <div class="stack turn-foot">
      <ErrorNote message={failure} />
      {finishReason === 'cancelled' && <p class="hint">Stopped.</p>}
      {finishReason && ENDINGS[finishReason] && <p class="note">{ENDINGS[finishReason]}</p>}
      <AnswerFeedback
        turn={turn}
        place={place}
        more={
          <>
            <CopyButton text={() => curlOf('/chat', request(), '-N ')} label="Copy as curl" />
            <CopyButton text={() => codeOf('chat', request())} label="Copy as code" icon="code" />
          </>
        }
      >
        <span class="hint">{facts.filter(Boolean).join(', ')}</span>
        {turn.answer !== '' && <CopyButton text={withSources(turn)} name="answer" />}
        {!isReadOnly.value && (
          <Button
            icon="retry"
            class="quiet"
            disabled={isAnswering.value}
            onClick={() => void ask(turn.question, turns.value[place - 1] ?? 'start', turn.images)}
          >
            Retry
          </Button>
        )}
        {turn.last && may('admin') && (
          <a
            class="button quiet"
            href={`${href('activity')}?answer=${encodeURIComponent(turn.last)}`}
          >
            <Icon name="activity" />
            Show run
          </a>
        )}
      </AnswerFeedback>
    </div>
  )
}
