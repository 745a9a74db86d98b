import { useSignal } from '@preact/signals'
import { attempt } from '../api.ts'
import { Button, Form } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { documentAddress } from '../route.ts'
import { addJudged } from './judged.ts'

/** A document that an answer cites. */
export interface CitedDocument {
  id: string
  title: string
  /** Whether none of its passages seems to support what cites it. */
  isDoubtful: boolean
}

/** Asks which of the cited documents are right for a question, and adds it to the judged questions. */
export function JudgedDialog({
  question,
  documents,
  onClose,
}: {
  question: string
  documents: readonly CitedDocument[]
  onClose: () => void
}) {
  const failure = useSignal('')
  const right = useSignal<ReadonlySet<string>>(
    new Set(documents.filter(({ isDoubtful }) => !isDoubtful).map(({ id }) => id)),
  )
  const choose = (id: string, isRight: boolean) => {
    const next = new Set(right.value)
    if (isRight) next.add(id)
    else next.delete(id)
    right.value = next
  }
  const save = async () => {
    if (await attempt(failure, () => addJudged(question, [...right.value]))) onClose()
  }
  return (
    <Dialog title="Use as judged question" onClose={onClose}>
      <Form class="stack" onSubmit={save}>
        <p dir="auto">{question}</p>
        <fieldset class="check-list">
          <legend class="label">Documents that are right for it</legend>
          {documents.map(({ id, title, isDoubtful }) => (
            <label key={id} class="check">
              <input
                type="checkbox"
                checked={right.value.has(id)}
                onChange={({ currentTarget }) => choose(id, currentTarget.checked)}
              />
              <span>
                <span dir="auto">{title}</span>{' '}
                {isDoubtful && <span class="hint">may not support the answer</span>}{' '}
                <a
                  class="hint"
                  href={documentAddress(id, { start: 0, end: 0 })}
                  target="_blank"
                  rel="noopener"
                >
                  Open
                </a>
              </span>
            </label>
          ))}
        </fieldset>
        <ErrorNote message={failure.value} />
        <div class="dialog-foot">
          <Button icon="cancel" onClick={onClose}>
            Cancel
          </Button>
          <Button icon="right" type="submit" class="primary" disabled={right.value.size === 0}>
            Add
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
