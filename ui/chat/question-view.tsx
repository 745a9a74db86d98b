import { type Signal, useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { attempt } from '../api.ts'
import { Button, Form } from '../parts/controls.tsx'
import { DataPicture } from '../parts/data-picture.tsx'
import type { IconName } from '../parts/icon.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { ask } from './answering.ts'
import {
  allTurns,
  chooseVersion,
  conversationId,
  isAnswering,
  isReadOnly,
  turns,
} from './conversation.ts'
import { draftOf, putBack } from './draft.ts'
import { QuestionField } from './question-field.tsx'
import { isContinuation, type Turn, versionsOf } from './turns.ts'

/** Can be edited and sent again, as another version beside it. */
export function Question({ turn, place }: { turn: Turn; place: number }) {
  const draft = draftOf(turn.id)
  const isOpen = useSignal(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const edit = useRef<HTMLButtonElement>(null)
  const failure = useSignal('')
  const text = draft.value
  const wasOpen = useRef(false)
  useLayoutEffect(() => {
    if (isOpen.value) {
      field.current?.focus()
      field.current?.setSelectionRange(text.length, text.length)
    } else if (wasOpen.current) edit.current?.focus()
    wasOpen.current = isOpen.value
  }, [isOpen.value])
  if (isContinuation(turn, turns.value[place - 1])) {
    return (
      <div class="row spread hint">
        Continued
        <Versions turn={turn} failure={failure} />
        <ErrorNote message={failure.value} />
      </div>
    )
  }
  if (!isOpen.value && text === '') {
    return (
      <div class="question">
        <div class="stack">
          <p class="chunk-text" dir="auto">
            {turn.question}
          </p>
          {turn.images.map((url, index) => (
            <DataPicture key={index} url={url} alt={`Attachment ${index + 1}`} />
          ))}
          <ErrorNote message={failure.value} />
        </div>
        <div class="row tight">
          <Versions turn={turn} failure={failure} />
          {!isReadOnly.value && (
            <Button
              icon="edit"
              aria-label={`Edit question ${place + 1}`}
              title="Edit"
              ref={edit}
              class="quiet icon-only"
              disabled={isAnswering.value}
              onClick={() => {
                draft.value = turn.question
                isOpen.value = true
              }}
            />
          )}
        </div>
      </div>
    )
  }
  const close = () => {
    draft.value = ''
    isOpen.value = false
  }
  const send = async () => {
    if (text.trim() === '' || isAnswering.value) return
    close()
    const wasAsked = await ask(text, turns.value[place - 1] ?? 'start', turn.images)
    if (wasAsked) return
    // The conversation was deleted.
    if (conversationId.value === undefined) putBack(undefined, text, [])
    else draft.value = text
  }
  return (
    <Form class="stack" onSubmit={send}>
      <QuestionField
        label="Question"
        placeholder=""
        question={draft}
        field={field}
        onAsk={() => void send()}
      />
      <div class="row">
        <Button
          icon="send"
          type="submit"
          class="primary"
          disabled={text.trim() === '' || isAnswering.value}
        >
          Ask again
        </Button>
        <Button icon="cancel" onClick={close}>
          Cancel
        </Button>
        {place < turns.value.length - 1 && (
          <span class="hint">Later messages are kept as another version.</span>
        )}
      </div>
    </Form>
  )
}

/** Leads to the other versions of a question and its answer, with what followed them. */
function Versions({ turn, failure }: { turn: Turn; failure: Signal<string> }) {
  const all = versionsOf(allTurns.value, turn)
  const place = all.findIndex(({ id }) => id === turn.id)
  if (all.length < 2) return null
  const step = (name: string, icon: IconName, to: Turn | undefined) => (
    <Button
      icon={icon}
      class="quiet"
      aria-label={`${name} version`}
      disabled={!to || isAnswering.value}
      onClick={() => to && void attempt(failure, () => chooseVersion(to))}
    />
  )
  return (
    <span class="versions">
      {step('Previous', 'previous', all[place - 1])}
      <span class="hint">
        <span class="visually-hidden">Version </span>
        {place + 1} / {all.length}
      </span>
      {step('Next', 'next', all[place + 1])}
    </span>
  )
}
