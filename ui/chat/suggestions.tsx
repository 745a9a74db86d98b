import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { client } from '../api.ts'
import { titleOf } from '../documents/one-document.tsx'
import { Icon } from '../parts/icon.tsx'
import { ask } from './answering.ts'

const COUNT = 3

/** Questions that the newest documents answer. */
export function Suggestions() {
  const titles = useSignal<readonly string[]>([])
  useEffect(() => {
    client.documents
      .list({ status: 'ready', limit: COUNT })
      .page()
      .then(
        ({ items }) => {
          titles.value = items.map(titleOf)
        },
        // Without them one can ask all the same.
        () => undefined,
      )
  }, [])
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
