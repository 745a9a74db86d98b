import type { Signal } from '@preact/signals'
import { useId } from 'preact/hooks'
import type { Filter } from '../../packages/client/src/agent-server.ts'
import { bound, Field } from './controls.tsx'

const EXAMPLE = '{"field": "language", "eq": "en"}'

/** The filter that a text means; nothing where it is empty. Throws a SyntaxError in words for people. */
export function parseFilter(text: string): Filter | undefined {
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw new SyntaxError(`The filter is not valid JSON. Example: ${EXAMPLE}.`)
  }
}

export function FilterField({ text }: { text: Signal<string> }) {
  const id = useId()
  return (
    <div class="field">
      <label class="label" for={id}>
        Filter
      </label>
      <textarea
        id={id}
        class="code-field"
        rows={2}
        spellcheck={false}
        placeholder={EXAMPLE}
        {...bound(text)}
      />
      <span class="hint">
        Limits the documents by their metadata: <code>eq</code>, <code>in</code>, <code>gt</code>,{' '}
        <code>lt</code> …, combined with <code>and</code>, <code>or</code>, <code>not</code>.
      </span>
    </div>
  )
}

export function TopKField({ value }: { value: Signal<string> }) {
  return (
    <Field label="Passages (topK)">
      <input type="number" min={1} max={100} placeholder="default" {...bound(value)} />
    </Field>
  )
}
