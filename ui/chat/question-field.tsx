import type { Signal } from '@preact/signals'
import type { RefObject } from 'preact'
import { bound } from '../parts/controls.tsx'
import type { Mentions } from './mentions.tsx'

/** Where a question is written: Enter asks it, Shift and Enter begin a new line. */
export function QuestionField({
  label,
  placeholder,
  question,
  field,
  onAsk,
  mentions,
}: {
  label: string
  placeholder: string
  question: Signal<string>
  field: RefObject<HTMLTextAreaElement | null>
  onAsk: () => void
  mentions?: Mentions
}) {
  return (
    <textarea
      ref={field}
      rows={2}
      aria-label={label}
      dir="auto"
      placeholder={placeholder}
      {...bound(question)}
      {...mentions?.attributes}
      onKeyDown={(event) => {
        if (mentions?.takesKey(event)) return event.preventDefault()
        if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
        event.preventDefault()
        onAsk()
      }}
    />
  )
}
