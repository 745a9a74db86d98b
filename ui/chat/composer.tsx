import type { Signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { ChosenCollection } from '../collections/collection-chooser.tsx'
import { chosenFiles } from '../documents/dropped-files.ts'
import { Button, boundBox, Field, Form } from '../parts/controls.tsx'
import { FilterField, TopKField } from '../parts/filter-field.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { ask, refusal, stop } from './answering.ts'
import { ChosenAgent } from './chosen-agent.tsx'
import {
  conversationId,
  EFFORTS,
  isAnswering,
  REASONING_EFFORTS,
  settings,
} from './conversation.ts'
import { draftOf, picturesOf, putBack } from './draft.ts'
import { FileChips } from './file-chips.tsx'
import { awaitsFiles } from './files.ts'
import { CollectionChip, useMentions } from './mentions.tsx'
import { add, PictureChips } from './pictures.tsx'
import { QuestionField } from './question-field.tsx'

/** Where a question is written, and files are added to the conversation. */
export function Composer() {
  const question = draftOf(conversationId.value)
  const pictures = picturesOf(conversationId.value)
  const field = useRef<HTMLTextAreaElement>(null)
  const mentions = useMentions(question, field)
  // Before it is painted: who types at once loses no letter.
  useLayoutEffect(() => field.current?.focus({ preventScroll: true }), [])
  const send = async () => {
    const text = question.value
    if (isAnswering.value || awaitsFiles.value || text.trim() === '') return
    const attached = pictures.value
    question.value = ''
    pictures.value = []
    const images = attached.map(({ url }) => url)
    const wasAsked = await ask(text.trim(), undefined, images)
    if (!wasAsked) putBack(conversationId.value, text, attached)
  }
  return (
    <Form
      class="composer"
      onPaste={(event) => {
        const pasted = pastedFiles(event)
        if (pasted.length === 0) return
        event.preventDefault()
        void add(pasted)
      }}
      onSubmit={send}
    >
      <FileChips />
      <PictureChips pictures={pictures} />
      <CollectionChip />
      <ErrorNote message={refusal.value} />
      <div class="composer-field">
        <QuestionField
          label="Question"
          placeholder="Ask a question"
          question={question}
          field={field}
          onAsk={() => void send()}
          mentions={mentions}
        />
        {mentions.list}
        <div class="composer-bar">
          <ClipButton />
          <ChosenAgent />
          <ChosenCollection />
          <Settings />
          {isAnswering.value ? (
            <Button icon="stop" onClick={() => void stop()}>
              Stop
            </Button>
          ) : (
            <Button
              icon="send"
              type="submit"
              class="primary"
              disabled={question.value.trim() === '' || awaitsFiles.value}
            >
              Send
            </Button>
          )}
        </div>
      </div>
    </Form>
  )
}

/** Files and pictures; what office programs copy is also a picture, but is meant as text. */
function pastedFiles({ clipboardData }: ClipboardEvent) {
  if (!clipboardData || clipboardData.types.includes('text/plain')) return []
  return chosenFiles(clipboardData.files)
}

function ClipButton() {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button
        icon="attach"
        class="clip"
        aria-label="Add files"
        title="Add files"
        onClick={() => input.current?.click()}
      />
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Add files"
        onChange={({ currentTarget }) => {
          void add(chosenFiles(currentTarget.files ?? []))
          // The same file may be chosen again.
          currentTarget.value = ''
        }}
      />
    </>
  )
}

function Settings() {
  return (
    <details class="settings">
      <summary>Settings</summary>
      <div class="settings-fields asked">
        <div class="stack">
          <TopKField value={settings.topK} />
          <Chooser label="Search effort" options={EFFORTS} value={settings.effort} />
          <Chooser
            label="Reasoning effort"
            options={REASONING_EFFORTS}
            value={settings.reasoningEffort}
          />
        </div>
        <FilterField text={settings.filter} />
        <label class="check">
          <input type="checkbox" {...boundBox(settings.showsSteps)} />
          Tool steps
        </label>
      </div>
    </details>
  )
}

function Chooser<Option extends string>({
  label,
  options,
  value,
}: {
  label: string
  options: readonly Option[]
  value: Signal<Option>
}) {
  return (
    <Field label={label}>
      <select
        value={value.value}
        onChange={({ currentTarget }) => {
          const chosen = options.find((option) => option === currentTarget.value)
          if (chosen !== undefined) value.value = chosen
        }}
      >
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </Field>
  )
}
