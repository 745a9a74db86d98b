import { useSignal } from '@preact/signals'
import { useEffect, useId, useRef } from 'preact/hooks'
import type { JudgedQuestion } from '../../packages/client/src/agent-server.ts'
import { attempt, client } from '../api.ts'
import { counted } from '../format.ts'
import { Button, bound, Form } from '../parts/controls.tsx'
import { changeJudged, failure } from './judged.ts'

/** Takes the fact that a right answer to a question contains. */
export function FactsForm({ question }: { question: JudgedQuestion }) {
  const draft = useSignal<string | undefined>(undefined)
  const isOpen = draft.value !== undefined
  const wasOpen = useRef(false)
  const place = useId()
  // The form takes the place of the button, and the focus, and the other way round.
  useEffect(() => {
    if (isOpen || wasOpen.current) document.getElementById(place)?.focus()
    wasOpen.current = isOpen
  }, [isOpen])
  const { id, createdAt: _created, updatedAt: _updated, facts = [], ...rest } = question
  // That no document has the answer is no fact to change.
  if (question.relevant.length === 0 && facts.length === 0) return null
  if (!isOpen) {
    return (
      <Button
        id={place}
        icon={facts.length > 0 ? 'edit' : 'add'}
        about={`of ${question.question}`}
        class="quiet"
        onClick={() => (draft.value = facts.join('\n'))}
      >
        {facts.length > 0 ? counted(facts.length, 'wording') : 'Add the fact'}
      </Button>
    )
  }
  const save = async () => {
    const lines = (draft.value ?? '').split('\n').map((line) => line.trim())
    const newFacts = lines.filter((line) => line !== '')
    await changeJudged(() =>
      client.evaluation.questions.put(id, {
        ...rest,
        facts: newFacts.length > 0 ? newFacts : null,
      }),
    )
    draft.value = undefined
  }
  return (
    <Form class="stack" onSubmit={() => attempt(failure, save)}>
      <textarea
        id={place}
        rows={2}
        aria-label={`Wordings of the fact, one per line, of ${question.question}`}
        placeholder="What a right answer contains; other wordings on further lines"
        value={draft.value}
        onInput={({ currentTarget }) => (draft.value = currentTarget.value)}
      />
      <div class="row">
        <Button icon="save" type="submit" class="primary">
          Save
        </Button>
        <Button icon="cancel" onClick={() => (draft.value = undefined)}>
          Cancel
        </Button>
      </div>
    </Form>
  )
}

/** Adds a question to which a right answer is that the documents do not say it. */
export function UnansweredForm() {
  const question = useSignal('')
  const add = async () => {
    await changeJudged(() =>
      client.evaluation.questions.create({ question: question.value.trim(), facts: [] }),
    )
    question.value = ''
  }
  return (
    <Form class="row" onSubmit={() => attempt(failure, add)}>
      <input
        type="text"
        class="grow"
        required
        maxLength={10_000}
        aria-label="Question that no document answers"
        placeholder="A question that no document answers"
        {...bound(question)}
      />
      <Button icon="add" type="submit">
        Add
      </Button>
    </Form>
  )
}
