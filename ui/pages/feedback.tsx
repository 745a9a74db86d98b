import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { AgentServerError, type Feedback } from '../../packages/client/src/agent-server.ts'
import { attempt, client } from '../api.ts'
import { formatDate } from '../format.ts'
import { Button, Choice } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { Empty, ErrorNote } from '../parts/notes.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { href } from '../route.ts'
import { readJudgedQuestions } from '../search/judged.ts'
import { type CitedDocument, JudgedButton } from '../search/judged-dialog.tsx'
import { may, person } from '../session.ts'

const PAGE = 20
/** Length of an answer, in UTF-16 code units; the conversation has all of it. */
const MAX_ANSWER = 1_000

const RATINGS = [
  [undefined, 'All'],
  ['down', 'Bad'],
  ['up', 'Good'],
] as const
const NONE = {
  all: 'No feedback yet',
  down: 'No answer was rated bad',
  up: 'No answer was rated good',
}

/** What people said of answers, with the question and the answer. */
export function FeedbackPage() {
  const rating = useSignal<Feedback['rating'] | undefined>(undefined)
  const items = useSignal<readonly Feedback[] | undefined>(undefined)
  const cursor = useSignal<string | undefined>(undefined)
  const failure = useSignal('')
  const isBusy = useSignal(false)
  const read = async (after?: string) => {
    const { value: chosen } = rating
    isBusy.value = true
    await attempt(failure, async () => {
      const page = await client.feedback.list({ rating: chosen, limit: PAGE }).page(after)
      if (chosen !== rating.value) return
      items.value = after === undefined ? page.items : [...(items.value ?? []), ...page.items]
      cursor.value = page.nextCursor
    })
    if (chosen === rating.value) isBusy.value = false
  }
  useEffect(() => void read(), [rating.value])
  useEffect(() => void readJudgedQuestions(), [])
  return (
    <>
      <div class="page-head">
        <h1>Feedback</h1>
        <Choice
          legend="Rating"
          options={RATINGS}
          chosen={rating.value}
          onChoose={(chosen) => (rating.value = chosen)}
        />
      </div>
      <p class="hint">
        {person.value
          ? 'Your own ratings of answers'
          : 'Ratings given in this web UI and with the server key'}
        , newest first.
      </p>
      <ErrorNote message={failure.value} />
      {!items.value && failure.value === '' && <Skeleton rows={4} />}
      {items.value?.length === 0 && (
        <Empty title={NONE[rating.value ?? 'all']}>
          <p>The thumbs below an answer in the chat rate it.</p>
        </Empty>
      )}
      <ul class="collections">
        {items.value?.map((each) => (
          <FeedbackEntry key={each.id} given={each} />
        ))}
      </ul>
      {cursor.value !== undefined && (
        <div>
          <Button icon="next" disabled={isBusy.value} onClick={() => void read(cursor.value)}>
            {isBusy.value ? 'Reading' : 'Show more'}
          </Button>
        </div>
      )}
    </>
  )
}

function FeedbackEntry({ given: entry }: { given: Feedback }) {
  const { rating, comment, question = '', answer, documentIds, updatedAt } = entry
  const isGood = rating === 'up'
  return (
    <li class={`panel stack feedback ${rating}`}>
      <div class="row spread">
        <h2 dir="auto">{question || 'A question that is not kept'}</h2>
        <span class="hint">{formatDate(updatedAt)}</span>
      </div>
      <p class="row tight">
        <Icon name={isGood ? 'thumbUp' : 'thumbDown'} />
        <strong>{isGood ? 'Good answer' : 'Bad answer'}</strong>
        {comment !== undefined && <span dir="auto">: {comment}</span>}
      </p>
      <details class="settings">
        <summary>Answer</summary>
        <p class="chunk-text" dir="auto">
          {answer.length > MAX_ANSWER ? `${answer.slice(0, MAX_ANSWER)} …` : answer}
        </p>
      </details>
      <div class="row tight">
        {entry.conversationId !== undefined && (
          <>
            <a class="button quiet" href={href('chat', entry.conversationId)}>
              <Icon name="chat" />
              Open conversation
            </a>
            {may('admin') && (
              <a
                class="button quiet"
                href={`${href('activity')}?answer=${encodeURIComponent(entry.answerId)}`}
              >
                <Icon name="activity" />
                Show run
              </a>
            )}
          </>
        )}
        <JudgedButton
          question={question}
          documentIds={documentIds}
          read={() => Promise.all(documentIds.map((id) => readCited(id, !isGood)))}
        />
      </div>
    </li>
  )
}

/** What a bad answer cites is right only if somebody says so. */
async function readCited(id: string, isDoubtful: boolean): Promise<CitedDocument> {
  try {
    const { title, file } = await client.documents.get(id)
    return { id, title: title || file?.name || id, isDoubtful }
  } catch (error) {
    if (!(error instanceof AgentServerError && error.code === 'document_not_found')) throw error
    // Its id still says which it was.
    return { id, title: id, isDoubtful: true }
  }
}
