import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Artifact } from '../../packages/client/src/agent-server.ts'
import { API } from '../api.ts'
import { formatBytes, formatNumber } from '../format.ts'
import { Button } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { Status } from '../parts/notes.tsx'
import { beginning, drawAnswer, MAX_DRAWN } from './answer-drawing.ts'
import { Citations, markUnsupported } from './citations.tsx'
import { isReadOnly } from './conversation.ts'
import { findWords, lengthWith, searches } from './find.ts'
import { Sources } from './sources.tsx'
import { Steps } from './steps.tsx'
import type { FinishReason, Turn } from './turns.ts'
import { type Decision, Waiting } from './waiting.tsx'

const ENDINGS: Partial<Record<FinishReason, string>> = {
  interrupted: 'Interrupted: the server stopped before the answer was complete.',
  length: 'The answer was cut off because it became too long.',
  content_filter: 'The answer was stopped by the model’s content filter.',
  round_limit: 'Stopped by the limit on rounds in agent.json.',
  call_limit: 'Stopped by the limit on tool calls in agent.json.',
  time_limit: 'Stopped by the time limit in agent.json.',
  token_limit: 'Stopped by the limit on tokens in agent.json.',
}

/** Why an answer ended early, if it did. */
export function Ending({ reason }: { reason: FinishReason | undefined }) {
  if (reason === 'cancelled') return <p class="hint">Stopped.</p>
  const words = reason && ENDINGS[reason]
  return words === undefined ? null : <p class="note">{words}</p>
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
      <Sources turn={turn} />
    </>
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

function Answer({ turn }: { turn: Turn }) {
  const place = useRef<HTMLDivElement>(null)
  const drawn = useSignal(MAX_DRAWN)
  const shown = beginning(turn.answer, drawn.value)
  const { value: words } = findWords
  useLayoutEffect(() => {
    if (shown.length === turn.answer.length) return
    drawn.value = Math.max(drawn.value, lengthWith(turn.answer, words))
  }, [words, searches.value])
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
      {turn.state === 'answering' && (turn.answer === '' || turn.isChecking || turn.isLost) && (
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
