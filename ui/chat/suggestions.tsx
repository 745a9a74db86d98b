import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { client } from '../api.ts'
import { chosenCollection } from '../collections/collections.ts'
import { titleOf } from '../documents/one-document.tsx'
import { Icon } from '../parts/icon.tsx'
import { ask } from './answering.ts'

const COUNT = 3
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
  return (
    <ul class="suggestions" aria-label="Suggested questions">
      {titles.value.map((title) => {
        const question = `What does “${title}” say?`
        return (
          <li key={title}>
            <button type="button" class="quiet" onClick={() => void ask(question)}>
              <Icon name="ask" />
              <span dir="auto">{question}</span>
            </button>
          </li>
        )
      })}
    </ul>
  )
}
