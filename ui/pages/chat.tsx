import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { ask, stop } from '../chat/answering.ts'
import { forget, isAnswering, settings, toMarkdown, turns } from '../chat/conversation.ts'
import { TurnView } from '../chat/turn-view.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { FilterField, TopKField } from '../parts/filter-field.tsx'
import { Empty } from '../parts/notes.tsx'
import { saveFile } from '../parts/save-file.ts'
import { href } from '../route.ts'

/** How near to the end of the page still counts as reading along, in pixels. */
const NEAR_END = 160

/** Exactly `/chat`; the conversation is kept in this browser only. */
export function ChatPage() {
  const isLeaving = useSignal(false)
  useReadingAlong()
  return (
    <>
      <div class="page-head">
        <h1>Chat</h1>
        {turns.value.length > 0 && (
          <div class="row">
            <button type="button" class="quiet" onClick={exportMarkdown}>
              Export
            </button>
            <button
              type="button"
              class="quiet"
              disabled={isAnswering.value}
              onClick={() => {
                isLeaving.value = true
              }}
            >
              New conversation
            </button>
          </div>
        )}
      </div>
      {turns.value.length === 0 && (
        <Empty title="Ask about your documents">
          <p>
            Answers cite the passages that they rest on, so{' '}
            <a href={href('documents')}>add documents</a> first. The conversation stays in this
            browser.
          </p>
        </Empty>
      )}
      <div class="turns">
        {turns.value.map((turn, place) => (
          <TurnView key={turn.id} turn={turn} place={place} />
        ))}
      </div>
      <p class="visually-hidden" role="status">
        {isAnswering.value ? 'Answering' : turns.value.length > 0 ? 'The answer is complete' : ''}
      </p>
      <Composer />
      {isLeaving.value && (
        <Confirm
          title="Begin a new conversation?"
          action="Begin anew"
          onConfirm={() => {
            isLeaving.value = false
            forget()
          }}
          onClose={() => {
            isLeaving.value = false
          }}
        >
          <p>This one is forgotten: nobody else has it. Export it first to keep it.</p>
        </Confirm>
      )}
    </>
  )
}

/** Scrolls to a new question and with an answer that grows, unless somebody has scrolled away from its end. */
function useReadingAlong(): void {
  const isAtEnd = useRef(true)
  const last = useRef(turns.value.at(-1)?.id)
  useEffect(() => {
    const look = () => {
      const { scrollHeight, clientHeight } = document.documentElement
      isAtEnd.current = window.scrollY + clientHeight > scrollHeight - NEAR_END
    }
    window.addEventListener('scroll', look, { passive: true })
    return () => window.removeEventListener('scroll', look)
  }, [])
  useEffect(() => {
    const newest = turns.value.at(-1)?.id
    // Whoever has just asked wants to see the answer, wherever they had scrolled to.
    if (newest !== last.current) isAtEnd.current = true
    last.current = newest
    if (isAtEnd.current) window.scrollTo(0, document.documentElement.scrollHeight)
  }, [turns.value])
}

function Composer() {
  const question = useSignal('')
  const field = useRef<HTMLTextAreaElement>(null)
  // Before it is painted: who types at once loses no letter.
  useLayoutEffect(() => field.current?.focus({ preventScroll: true }), [])
  const send = () => {
    if (isAnswering.value || question.value.trim() === '') return
    void ask(question.value.trim())
    question.value = ''
  }
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <div class="search-form">
        <textarea
          ref={field}
          rows={2}
          aria-label="Question"
          placeholder="Ask a question"
          value={question.value}
          onInput={({ currentTarget }) => {
            question.value = currentTarget.value
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
            event.preventDefault()
            send()
          }}
        />
        {isAnswering.value ? (
          <button type="button" onClick={stop}>
            Stop
          </button>
        ) : (
          <button type="submit" class="primary" disabled={question.value.trim() === ''}>
            Send
          </button>
        )}
      </div>
      <details class="settings">
        <summary>Settings</summary>
        <div class="settings-fields asked">
          <TopKField value={settings.topK} />
          <FilterField text={settings.filter} />
          <label class="check">
            <input
              type="checkbox"
              checked={settings.showsSteps.value}
              onChange={({ currentTarget }) => {
                settings.showsSteps.value = currentTarget.checked
              }}
            />
            Tool steps
          </label>
        </div>
      </details>
    </form>
  )
}

function exportMarkdown(): void {
  saveFile('conversation.md', new Blob([toMarkdown(turns.value)], { type: 'text/markdown' }))
}
