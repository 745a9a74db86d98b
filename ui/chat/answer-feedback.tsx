import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Feedback } from '../../packages/client/src/agent-server.ts'
import { attempt } from '../api.ts'
import { Button, Form } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { type CitedDocument, JudgedButton } from '../search/judged-dialog.tsx'
import { conversationId, isReadOnly, turns } from './conversation.ts'
import { citedHits } from './export.ts'
import { feedbackOf, type Rating, rate, withdraw } from './feedback.ts'
import { isContinuation, type Turn } from './turns.ts'

/** As many as the server takes, in UTF-16 code units. */
const MAX_COMMENT = 2_000

const RATINGS = [
  ['up', 'Good answer', 'thumbUp'],
  ['down', 'Bad answer', 'thumbDown'],
] as const

interface AnswerFeedbackProps {
  turn: Turn
  place: number
  /** What else can be done with the answer, before the thumbs. */
  children: ComponentChildren
  /** What is needed seldom, and folded. */
  more: ComponentChildren
}

/** Takes what somebody thinks of an answer, and makes a judged question of it. */
export function AnswerFeedback({ turn, place, children, more }: AnswerFeedbackProps) {
  const failure = useSignal('')
  const isBusy = useSignal(false)
  const draft = useSignal<string | undefined>(undefined)
  const answerId = turn.last
  const conversation = conversationId.value
  const isRated = !isReadOnly.value && turn.answer !== ''
  if (answerId === undefined || conversation === undefined || !isRated) {
    return (
      <div class="row tight">
        {children}
        <More>{more}</More>
      </div>
    )
  }
  const feedback = feedbackOf.value.get(answerId)
  const documents = citedDocuments(turn)
  // The rest of an answer has no question of its own.
  const judging = !isContinuation(turn, turns.value[place - 1]) && (
    <JudgedButton
      // A follow-up is judged in the form in which it was searched for.
      question={turn.searchedFor ?? turn.question}
      documentIds={documents.map(({ id }) => id)}
      read={async () => documents}
    />
  )
  const act = async (work: () => Promise<void>) => {
    isBusy.value = true
    if (await attempt(failure, work)) draft.value = undefined
    isBusy.value = false
  }
  return (
    <div class="stack">
      <div class="row tight">
        {children}
        <Thumbs
          rating={feedback?.rating}
          place={place}
          isBusy={isBusy.value}
          onRate={(rating) =>
            void act(() =>
              feedback?.rating === rating
                ? withdraw(feedback)
                : rate(conversation, answerId, rating, feedback?.comment),
            )
          }
        />
        {feedback && draft.value === undefined && (
          <Button
            icon="comment"
            class="quiet"
            onClick={() => (draft.value = feedback.comment ?? '')}
          >
            {feedback.comment === undefined ? 'Add a comment' : 'Change comment'}
          </Button>
        )}
        {feedback && judging}
        <More>
          {more}
          {!feedback && judging}
        </More>
      </div>
      {feedback && draft.value !== undefined && (
        <CommentForm
          text={draft.value}
          isBusy={isBusy.value}
          onInput={(text) => (draft.value = text)}
          onSave={() =>
            void act(() => rate(conversation, answerId, feedback.rating, draft.value?.trim()))
          }
          onCancel={() => (draft.value = undefined)}
        />
      )}
      {draft.value === undefined && <Comment given={feedback} />}
      <ErrorNote message={failure.value} />
    </div>
  )
}

function More({ children }: { children: ComponentChildren }) {
  return (
    <details class="more">
      <summary>
        <Icon name="more" />
        More
      </summary>
      <div class="row tight">{children}</div>
    </details>
  )
}

interface ThumbsProps {
  rating: Rating | undefined
  place: number
  isBusy: boolean
  onRate: (rating: Rating) => void
}

/** Pressing a thumb again withdraws the rating. */
function Thumbs({ rating, place, isBusy, onRate }: ThumbsProps) {
  return RATINGS.map(([each, name, icon]) => (
    <Button
      icon={icon}
      key={each}
      class="quiet toggle thumb"
      aria-pressed={rating === each}
      aria-label={`${name} to question ${place + 1}`}
      title={name}
      disabled={isBusy}
      onClick={() => onRate(each)}
    />
  ))
}

function Comment({ given: stored }: { given: Feedback | undefined }) {
  return stored?.comment === undefined ? null : (
    <p class="hint chunk-text" dir="auto">
      {stored.comment}
    </p>
  )
}

interface CommentFormProps {
  text: string
  isBusy: boolean
  onInput: (text: string) => void
  onSave: () => void
  onCancel: () => void
}

function CommentForm({ text, isBusy, onInput, onSave, onCancel }: CommentFormProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  // With its buttons, which stand below it.
  useEffect(() => {
    field.current?.focus({ preventScroll: true })
    field.current?.form?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    <Form class="stack" onSubmit={onSave}>
      <textarea
        ref={field}
        rows={2}
        aria-label="Comment on the answer"
        dir="auto"
        placeholder="What is right or wrong with the answer?"
        maxLength={MAX_COMMENT}
        value={text}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      <div class="row">
        <Button icon="save" type="submit" class="primary" disabled={isBusy}>
          Save comment
        </Button>
        <Button icon="cancel" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </Form>
  )
}

/** Each once; doubtful where no citation of it is supported. */
export function citedDocuments(turn: Pick<Turn, 'answer' | 'hits' | 'citations'>): CitedDocument[] {
  const documents = new Map<string, CitedDocument>()
  for (const { hit, number } of citedHits(turn)) {
    const citations = turn.citations.filter((citation) => citation.number === number)
    const isDoubtful =
      citations.length > 0 && citations.every(({ supported }) => supported === false)
    const known = documents.get(hit.documentId)
    documents.set(hit.documentId, {
      id: hit.documentId,
      title: hit.title || hit.documentId,
      isDoubtful: isDoubtful && (known?.isDoubtful ?? true),
    })
  }
  return [...documents.values()]
}
