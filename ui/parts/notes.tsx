import type { ComponentChildren } from 'preact'

/** A failure in words; is read out when it appears. */
export function ErrorNote({
  message,
  children,
}: {
  message: string
  children?: ComponentChildren
}) {
  return (
    <div role="alert" class="alert-place">
      {message !== '' && (
        <div class="error-note">
          <p>{message}</p>
          {children}
        </div>
      )}
    </div>
  )
}

/** A text of the documentation, whose names stand between backticks. */
export function Prose({ text }: { text: string }) {
  const parts = text.split('`')
  return (
    <>{parts.map((part, place) => (place % 2 === 1 ? <code key={place}>{part}</code> : part))}</>
  )
}

/** The placeholder of an empty list, with the next step. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  )
}

export type Tone = 'good' | 'bad' | 'busy' | 'off'

/** A state as a word with a mark whose shape differs, so that colour alone says nothing. */
export function Status({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return (
    <span class={`status ${tone}`}>
      <span class="mark" aria-hidden="true" />
      {children}
    </span>
  )
}
