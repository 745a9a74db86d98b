import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { DraftFrame } from '../../packages/client/src/agent-server.ts'
import { Ending, WholeAnswer } from '../chat/answer-view.tsx'
import { QuestionField } from '../chat/question-field.tsx'
import { spokenState } from '../chat/turns.ts'
import { formatNumber, formatSeconds } from '../format.ts'
import { Button, Form } from '../parts/controls.tsx'
import { useEscape } from '../parts/escape.ts'
import { ErrorNote } from '../parts/notes.tsx'
import { leaveReader, Reader, reading } from '../reader/reader.tsx'
import { href } from '../route.ts'
import type { AgentEditor } from './agent-editor.ts'
import {
  askDraft,
  decideDraft,
  isTrying,
  question,
  refusal,
  startOver,
  stopTrying,
  type Tried,
  tried,
} from './draft-chat.ts'
import type { LoadedAgent } from './loaded-agent.ts'
import { serverState } from './server-state.ts'

/** A chat with the configuration as it is written, saved or not. */
export function DraftPanel({
  editor,
  loaded,
  field,
}: {
  editor: AgentEditor
  loaded: LoadedAgent
  /** Where the question is written. */
  field: RefObject<HTMLTextAreaElement | null>
}) {
  const panel = useRef<HTMLElement>(null)
  useEscape(stopTrying, {
    isOpen: isTrying.value,
    within: panel,
    isOnlyWithin: true,
    isLast: true,
  })
  const isRunning = (serverState.value?.state ?? 'running') === 'running'
  return (
    <aside ref={panel} class="panel draft-panel" aria-labelledby="draft-title">
      <div class="row spread">
        <h2 id="draft-title">Try the draft</h2>
        {tried.value.length > 0 && (
          <Button icon="retry" class="quiet" onClick={startOver}>
            Start over
          </Button>
        )}
      </div>
      {isRunning ? (
        <>
          <Answers draft={editor.text.value} loaded={loaded} />
          <Composer editor={editor} field={field} />
        </>
      ) : (
        <p class="hint">
          Start the server on the <a href={href('overview')}>Overview</a> page to try the draft.
        </p>
      )}
    </aside>
  )
}

function Answers({ draft, loaded }: { draft: string; loaded: LoadedAgent }) {
  const place = useRef<HTMLDivElement>(null)
  // Follows the answer: after scrolling back, the next words scroll to the end again.
  useLayoutEffect(() => {
    if (place.current) place.current.scrollTop = place.current.scrollHeight
  }, [tried.value])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, with the keyboard too
    <div ref={place} class="turns draft-turns" role="log" aria-label="Answers" tabIndex={0}>
      {tried.value.length === 0 && (
        <div class="stack hint">
          <p>
            Ask a question to see how the agent answers with the configuration on this page. The
            running agent stays as it is until you save.
          </p>
          {loaded.capabilities?.chat.model === 'extractive' && (
            <p>
              The extractive chat model only quotes documents: it ignores prompt, tools and skills.
              Choose another one on the <a href={href('models')}>Models</a> page.
            </p>
          )}
        </div>
      )}
      {tried.value.map((one, index) => (
        <TriedView key={one.turn.id} tried={one} draft={draft} number={index + 1} />
      ))}
    </div>
  )
}

function TriedView({ tried: one, draft, number }: { tried: Tried; draft: string; number: number }) {
  const { turn, text, unavailable } = one
  const { state, failure, finishReason, milliseconds, tokens } = turn
  const facts = [formatSeconds(milliseconds), tokens && `${formatNumber(tokens)} tokens`]
  return (
    <article class="turn" aria-label={`Question ${number}`}>
      <div class="question">
        <p class="chunk-text">{turn.question}</p>
      </div>
      <Unavailable parts={unavailable} />
      <WholeAnswer
        turn={turn}
        isBusy={isTrying.value}
        onDecide={(decision) => void decideDraft(one, decision)}
      />
      <ErrorNote message={failure} />
      <Ending reason={finishReason} />
      {state !== 'answering' && (
        <p class="hint">
          {facts.filter(Boolean).join(', ')}
          {text !== draft && '. The configuration has changed since this answer.'}
        </p>
      )}
    </article>
  )
}

const PARTS: Readonly<Record<DraftFrame['unavailable'][number]['part'], string>> = {
  mcp: 'MCP connection',
  skill: 'Skill',
  plugin: 'Plugin',
}

/** What the draft names and could not use. */
function Unavailable({ parts }: { parts: DraftFrame['unavailable'] }) {
  if (parts.length === 0) return null
  return (
    <ul class="error-note" aria-label="Not available">
      {parts.map(({ part, name, reason }) => (
        <li key={`${part} ${name}`}>
          {PARTS[part]} {name} is not available: {reason}
        </li>
      ))}
    </ul>
  )
}

function Composer({
  editor,
  field,
}: {
  editor: AgentEditor
  field: RefObject<HTMLTextAreaElement | null>
}) {
  const isValid = editor.found.value?.valid ?? false
  const ask = () => void (isValid && askDraft(editor.text.value))
  return (
    <Form class="stack" onSubmit={ask}>
      <ErrorNote message={refusal.value} />
      <QuestionField
        label="Question to the draft"
        placeholder="Ask the draft a question"
        question={question}
        field={field}
        onAsk={ask}
      />
      <div class="row">
        {isTrying.value ? (
          <Button icon="stop" onClick={stopTrying}>
            Stop
          </Button>
        ) : (
          <Button
            icon="send"
            type="submit"
            class="primary"
            disabled={!isValid || question.value.trim() === ''}
          >
            Ask
          </Button>
        )}
        {editor.found.value && !isValid && (
          <span class="hint">Correct the mistakes in the configuration first.</span>
        )}
      </div>
      <p class="visually-hidden" role="status">
        {spokenState(tried.value.at(-1)?.turn)}
      </p>
    </Form>
  )
}

/** The passage that an answer of the draft cites. */
export function CitedPassage() {
  const cited = reading.value
  const isOurs =
    cited !== undefined && tried.value.some(({ turn }) => turn.hits.includes(cited.hit))
  useEffect(() => {
    if (isOurs) return leaveReader
  }, [isOurs])
  if (!isOurs) return null
  return <Reader key={`${cited.hit.id} ${cited.quotes.join()}`} {...cited} />
}
