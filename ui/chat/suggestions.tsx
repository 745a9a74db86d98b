import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { client } from '../api.ts'
import { chosenCollection } from '../collections/collections.ts'
import { titleOf } from '../documents/one-document.tsx'
import { Icon } from '../parts/icon.tsx'
import { ask } from './answering.ts'
import { isReadOnly, turns } from './conversation.ts'
import { COUNT, followUps, questionAbout } from './follow-ups.ts'
import type { Turn } from './turns.ts'

/** Several may have one title. */
const READ = 10

/** Questions that the newest documents of the chosen collection answer. */
export function Suggestions() {
  const titles = useSignal<readonly string[]>([])
  const { value: chosen } = chosenCollection
  useEffect(() => {
    client.documents
      .list({ status: 'ready', limit: READ, collection: chosen || undefined })
      .page()
      .then(
        ({ items }) => {
          if (chosen !== chosenCollection.value) return
          titles.value = [...new Set(items.map(titleOf))].slice(0, COUNT)
        },
        // Without them one can ask all the same.
        () => undefined,
      )
  }, [chosen])
  const questions = titles.value.map((title) => questionAbout(title))
  return <Questions class="suggestions" label="Suggested questions" questions={questions} />
}

/** Questions that go on from the last answer. */
export function FollowUps({ turn }: { turn: Turn }) {
  if (turn.state !== 'done' || turn.approval || isReadOnly.value) return null
  const questions = followUps(
    turn,
    turns.value.map(({ question }) => question),
  )
  if (questions.length === 0) return null
  return (
    <Questions
      class="suggestions follow-ups"
      label="Suggested follow-up questions"
      questions={questions}
    />
  )
}

function Questions({
  label,
  questions,
  class: name,
}: {
  label: string
  questions: readonly string[]
  class: string
}) {
  return (
    <ul class={name} aria-label={label}>
      {questions.map((question) => (
        <li key={question}>
          <button type="button" class="quiet" onClick={() => void ask(question)}>
            <Icon name="ask" />
            <span dir="auto">{question}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}
