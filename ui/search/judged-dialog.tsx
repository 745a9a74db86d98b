import { useSignal } from '@preact/signals'
import { attempt } from '../api.ts'
import { Button, Form } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { documentAddress, href } from '../route.ts'
import { may } from '../session.ts'
import { addJudged, isRight } from './judged.ts'

/** A document that an answer cites. */
export interface CitedDocument {
  id: string
  title: string
  /** Whether none of its passages seems to support what cites it. */
  isDoubtful: boolean
}

/** Offers to make a judged question of an answer, or says that it is one; nothing for people who may not. */
export function JudgedButton({
  question,
  documentIds,
  read,
}: {
  question: string
  documentIds: readonly string[]
  /** The documents of these ids. */
  read: () => Promise<readonly CitedDocument[]>
}) {
  const documents = useSignal<readonly CitedDocument[] | undefined>(undefined)
  const failure = useSignal('')
  if (!may('admin') || question === '' || documentIds.length === 0) return null
  if (documentIds.some((id) => isRight(question, id))) {
    return (
      <a class="hint" href={href('evaluation')}>
        Judged question
      </a>
    )
  }
  const choose = async () => {
    documents.value = await read()
  }
  return (
    <>
      <Button
        icon="right"
        class="quiet"
        title="Adds the question to the judged questions, with those of the cited documents that are right"
        onClick={() => void attempt(failure, choose)}
      >
        Use as judged question
      </Button>
      <ErrorNote message={failure.value} />
      {documents.value && (
        <JudgedDialog
          question={question}
          documents={documents.value}
          onClose={() => (documents.value = undefined)}
        />
      )}
    </>
  )
}

/** Asks which of the cited documents are right for a question, and adds it to the judged questions. */
function JudgedDialog({
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
