import { useSignal } from '@preact/signals'
import type { JudgedQuestion } from '../../client/src/agent-server.ts'
import { client } from '../api.ts'
import { counted } from '../format.ts'
import { changeJudged } from './judged.ts'

type Attempt = (work: () => Promise<void>) => Promise<void>

/** Takes the fact that a right answer to a question contains. */
export function FactsForm({ question, attempt }: { question: JudgedQuestion; attempt: Attempt }) {
  const draft = useSignal<string | undefined>(undefined)
  const { id, createdAt: _created, updatedAt: _updated, facts = [], ...rest } = question
  // That no document has the answer is no fact to change.
  if (question.relevant.length === 0 && facts.length === 0) return null
  if (draft.value === undefined) {
    return (
      <button
        type="button"
        class="quiet"
        onClick={() => {
          draft.value = facts.join('\n')
        }}
      >
        {facts.length > 0 ? counted(facts.length, 'wording') : 'Add the fact'}
        <span class="visually-hidden"> of {question.question}</span>
      </button>
    )
  }
  const save = async () => {
    const lines = (draft.value ?? '').split('\n').map((line) => line.trim())
    const said = lines.filter((line) => line !== '')
    await changeJudged(() =>
      client.evaluation.questions.put(id, { ...rest, facts: said.length > 0 ? said : null }),
    )
    draft.value = undefined
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        void attempt(save)
      }}
    >
      <textarea
        rows={2}
        aria-label={`Wordings of the fact, one per line, of ${question.question}`}
        placeholder="What a right answer contains; other wordings on further lines"
        value={draft.value}
        onInput={({ currentTarget }) => {
          draft.value = currentTarget.value
        }}
      />
      <div class="row">
        <button type="submit" class="primary">
          Save
        </button>
        <button
          type="button"
          onClick={() => {
            draft.value = undefined
          }}
        >
          Cancel
        </button>
      </div>
    </form>
  )
}

/** Adds a question to which a right answer is that the documents do not say it. */
export function UnansweredForm({ attempt }: { attempt: Attempt }) {
  const question = useSignal('')
  const add = async () => {
    await changeJudged(() =>
      client.evaluation.questions.create({ question: question.value.trim(), facts: [] }),
    )
    question.value = ''
  }
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault()
        void attempt(add)
      }}
    >
      <input
        type="text"
        class="grow"
        required
        maxLength={10_000}
        aria-label="Question that no document answers"
        placeholder="A question that no document answers"
        value={question.value}
        onInput={({ currentTarget }) => {
          question.value = currentTarget.value
        }}
      />
      <button type="submit">Add</button>
    </form>
  )
}
