import type { Signal } from '@preact/signals'
import { Field } from '../parts/controls.tsx'

/** What a search goes by; by what the server has where nothing is chosen. */
const MODES = ['hybrid', 'lexical', 'dense'] as const
export type Mode = (typeof MODES)[number] | ''

export function ModeField({ mode }: { mode: Signal<Mode> }) {
  return (
    <Field label="Mode">
      <select
        value={mode.value}
        onChange={({ currentTarget }) =>
          (mode.value = MODES.find((one) => one === currentTarget.value) ?? '')
        }
      >
        <option value="">default</option>
        {MODES.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </Field>
  )
}
