import type { ComponentChildren } from 'preact'
import type { AgentCheck } from '../../packages/client/src/agent-server.ts'
import { counted } from '../format.ts'
import { Status, type Tone } from '../parts/notes.tsx'

export interface CardState {
  tone: Tone
  words: string
}

/**
 * One part of the agent: a summary of its settings, and folded, the form to change them. Mistakes are always visible.
 */
export function AgentCard({
  title,
  state,
  check,
  field,
  isOpen = false,
  children,
}: {
  title: string
  state: CardState | undefined
  check: AgentCheck | undefined
  /** The field of agent.json that it is about. */
  field: string
  isOpen?: boolean
  children: ComponentChildren
}) {
  const mistakes = mistakesIn(check, field)
  const status =
    mistakes.length > 0
      ? { tone: 'bad' as const, words: `${counted(mistakes.length, 'mistake')} to correct` }
      : state
  return (
    <section class="panel agent-card">
      <details open={isOpen}>
        <summary>
          <h2>{title}</h2>
          {status && <Status tone={status.tone}>{status.words}</Status>}
        </summary>
        <div class="stack">{children}</div>
      </details>
      <Mistakes title={title} mistakes={mistakes} />
    </section>
  )
}

/** The mistakes at a field and below. */
function mistakesIn(check: AgentCheck | undefined, field: string): AgentCheck['mistakes'] {
  return check?.mistakes.filter((mistake) => mistake.field.split('.')[0] === field) ?? []
}

export function Mistakes({ title, mistakes }: { title: string; mistakes: AgentCheck['mistakes'] }) {
  if (mistakes.length === 0) return null
  return (
    <ul class="error-note" aria-label={`Mistakes in ${title}`}>
      {mistakes.map(({ field, message }) => (
        <li key={`${field}${message}`}>
          <code>{field || 'agent.json'}</code> {message}
        </li>
      ))}
    </ul>
  )
}
