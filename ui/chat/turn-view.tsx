import { GO_ON } from '@agent-server/lib/text/go-on.ts'
import { formatNumber, formatSeconds } from '../format.ts'
import { Button } from '../parts/controls.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { codeOf, curlOf } from '../parts/request-code.ts'
import { href } from '../route.ts'
import { may } from '../session.ts'
import { AnswerFeedback } from './answer-feedback.tsx'
import { Ending, WholeAnswer } from './answer-view.tsx'
import { ask, decide } from './answering.ts'
import { conversationId, isAnswering, isReadOnly, requestFor, turns } from './conversation.ts'
import { withSources } from './export.ts'
import { linkedTurn, linkTo } from './linked-turn.ts'
import { Question } from './question-view.tsx'
import { FollowUps } from './suggestions.tsx'
import { isContinuation, isCutOff, type Turn } from './turns.ts'

/** A question and its answer, with all that led to it. */
export function TurnView({ turn, place }: { turn: Turn; place: number }) {
  const isLinked = turn.id === linkedTurn.value
  return (
    <article
      class={isLinked ? 'turn linked' : 'turn'}
      aria-label={`Question ${place + 1}`}
      tabIndex={isLinked ? -1 : undefined}
    >
      {/* Headings of the answer stand below it. */}
      <h2 class="visually-hidden">Question {place + 1}</h2>
      <Question turn={turn} place={place} />
      <WholeAnswer
        turn={turn}
        isBusy={isAnswering.value}
        onDecide={(decision) => void decide(turn, decision)}
      />
      <Foot turn={turn} place={place} />
      {place === turns.value.length - 1 && <FollowUps turn={turn} />}
    </article>
  )
}

function Foot({ turn, place }: { turn: Turn; place: number }) {
  const { state, failure, finishReason, checkWarning, milliseconds, tokens } = turn
  if (state === 'answering') return null
  const facts = [formatSeconds(milliseconds), tokens && `${formatNumber(tokens)} tokens`]
  const { value: id } = conversationId
  const isLast = place === turns.value.length - 1
  const next = turns.value[place + 1]
  const isContinued = next !== undefined && isContinuation(next, turn)
  const request = () => requestFor(turn, turns.value.slice(0, place))
  return (
    <div class="stack turn-foot">
      <ErrorNote message={failure} />
      {!isContinued && <Ending reason={finishReason} />}
      {checkWarning && <p class="hint">Citations: {checkWarning}.</p>}
      <AnswerFeedback
        turn={turn}
        place={place}
        more={
          <>
            {id !== undefined && turn.last && (
              <CopyButton text={linkTo(id, turn)} label="Copy link" icon="link" />
            )}
            <CopyButton text={() => curlOf('/chat', request(), '-N ')} label="Copy as curl" />
            <CopyButton text={() => codeOf('chat', request())} label="Copy as code" icon="code" />
          </>
        }
      >
        <span class="hint">{facts.filter(Boolean).join(', ')}</span>
        {isCutOff(turn) && isLast && !isReadOnly.value && (
          <Button icon="start" disabled={isAnswering.value} onClick={() => void ask(GO_ON, turn)}>
            Continue
          </Button>
        )}
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
