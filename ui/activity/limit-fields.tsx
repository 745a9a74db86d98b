import { useId } from 'preact/hooks'
import type { useWork } from '../admin/work.tsx'
import type { DayLimits } from './usage-words.ts'

type Work = Pick<ReturnType<typeof useWork>, 'failure' | 'failedField'>

const FIELDS = [
  { name: 'tokensPerDay', label: 'Tokens a day', bounds: { min: 1 } },
  { name: 'costPerDay', label: 'Money a day', bounds: { min: 0.0001, step: 'any' } },
] as const

/** The fields of what somebody may use in a day, each with what the server has against it. */
export function LimitFields({ limits = {}, work }: { limits?: DayLimits; work: Work }) {
  const id = useId()
  const { failure, failedField } = work
  return (
    <>
      {FIELDS.map(({ name, label, bounds }) => {
        const mistake = failedField.value === name ? failure.value : ''
        return (
          <div key={name} class="field">
            <label class="label" for={id + name}>
              {label}
            </label>
            <input
              id={id + name}
              name={name}
              type="number"
              autocomplete="off"
              placeholder="No limit"
              defaultValue={limits[name]}
              aria-invalid={mistake !== ''}
              aria-describedby={`${id}${name}-mistake`}
              {...bounds}
            />
            <span id={`${id}${name}-mistake`} class="reason" aria-live="polite">
              {mistake.replace(/^\S+: /, '')}
            </span>
          </div>
        )
      })}
    </>
  )
}

/** The part of a failure that belongs to none of these fields. */
export const otherFailure = ({ failure, failedField }: Work) =>
  FIELDS.some(({ name }) => name === failedField.value) ? '' : failure.value

/** The values of a form's fields; null where one is empty. */
export function limitsIn(form: FormData) {
  const number = (name: keyof DayLimits) => {
    const text = String(form.get(name) ?? '').trim()
    return text === '' ? null : Number(text)
  }
  return { tokensPerDay: number('tokensPerDay'), costPerDay: number('costPerDay') }
}
