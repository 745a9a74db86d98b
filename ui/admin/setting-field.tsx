import type { Signal } from '@preact/signals'
import type { Setting } from '../../packages/client/src/agent-server.ts'
import { formatBytes, formatNumber } from '../format.ts'
import { Button } from '../parts/controls.tsx'
import { ErrorNote, Prose } from '../parts/notes.tsx'
import type { Draft } from './settings-draft.ts'

/** Saves or discards the changes, and shows the outcome. */
export function SaveBar({
  draft,
  failure,
  note,
}: {
  draft: Signal<Draft>
  failure: string
  note: string
}) {
  const count = Object.keys(draft.value).length
  return (
    <div class="save-bar">
      <ErrorNote message={failure} />
      <p role="status">{note}</p>
      <div class="row">
        <Button icon="save" type="submit" class="primary" disabled={count === 0}>
          Save
        </Button>
        {count > 0 && (
          <Button icon="cancel" onClick={() => (draft.value = {})}>
            Discard
          </Button>
        )}
        <span class="hint">{count > 0 && `Changed: ${Object.keys(draft.value).join(', ')}`}</span>
      </div>
    </div>
  )
}

/** One variable, with its meaning and the source of its value. */
export function SettingField({
  setting,
  draft,
  suggestions,
}: {
  setting: Setting
  draft: Signal<Draft>
  /** The id of a list of values to choose from. */
  suggestions?: string
}) {
  const { name, meaning, source } = setting
  const typed = draft.value[name]
  const change = (value: string | null | undefined) => {
    const { [name]: _, ...others } = draft.value
    draft.value = value === undefined ? others : { ...others, [name]: value }
  }
  const isCleared = typed === null
  const hint = `hint-${name}`
  const { label, unit } = setting
  const properties = { setting, typed, change, hint, suggestions }
  return (
    <div class="setting">
      <label class="label" for={`value-${name}`}>
        {label !== name && label} <code class={label === name ? '' : 'setting-name'}>{name}</code>
      </label>
      {setting.choices ? <Choice {...properties} /> : <Text {...properties} />}
      {unit && <Amount unit={unit} text={typed ?? setting.value ?? ''} />}
      <div class="row spread">
        <p class="hint" id={hint}>
          <Prose text={meaning} />{' '}
          {source === 'environment' && <strong>Set in the environment.</strong>}
        </p>
        {source === 'file' && !isCleared && (
          <Button icon="cancel" about={name} class="quiet" onClick={() => change(null)}>
            Clear
          </Button>
        )}
        {typed !== undefined && (
          <Button icon="undo" about={name} class="quiet" onClick={() => change(undefined)}>
            Undo
          </Button>
        )}
      </div>
    </div>
  )
}

interface FieldProperties {
  setting: Setting
  typed: string | null | undefined
  change: (value: string | null | undefined) => void
  /** The id of what explains it. */
  hint: string
  suggestions?: string | undefined
}

function Text({ setting, typed, change, hint, suggestions }: FieldProperties) {
  const { secret, source } = setting
  const isCleared = typed === null
  return (
    <input
      id={`value-${setting.name}`}
      {...(secret ? { type: 'password' as const } : { type: 'text' as const, list: suggestions })}
      autocomplete="off"
      spellcheck={false}
      aria-describedby={hint}
      readOnly={source === 'environment'}
      value={typed ?? (isCleared || secret ? '' : (setting.value ?? ''))}
      placeholder={placeholderOf(setting, isCleared)}
      onInput={({ currentTarget }) => {
        const { value } = currentTarget
        const isAsBefore = secret ? value === '' : value === (setting.value ?? '')
        change(isAsBefore ? undefined : value || null)
      }}
    />
  )
}

function Choice({ setting, typed, change, hint }: FieldProperties) {
  const { source, choices = [], default: initial } = setting
  const current = source === 'default' ? '' : (setting.value ?? '')
  return (
    <select
      id={`value-${setting.name}`}
      aria-describedby={hint}
      disabled={source === 'environment'}
      value={typed === undefined ? current : (typed ?? '')}
      onChange={({ currentTarget: { value } }) =>
        change(value === current ? undefined : value || null)
      }
    >
      <option value="">{initial === undefined ? 'Not set' : `Default: ${initial}`}</option>
      {choices.map((one) => (
        <option key={one} value={one}>
          {one}
        </option>
      ))}
    </select>
  )
}

/** A number with its unit, in words that are easier to read than many zeros. */
function Amount({ unit, text }: { unit: string; text: string }) {
  const number = Number(text)
  const isNumber = text !== '' && Number.isFinite(number)
  if (!isNumber) return <span class="hint">In {unit}.</span>
  const amount = unit === 'bytes' && number >= 1_000 && `, ${formatBytes(number)}`
  return (
    <span class="hint">
      {formatNumber(number)} {number === 1 ? unit.replace(/s$/, '') : unit}
      {amount}
      {unit === 'seconds' && number >= 120 && `, ${formatNumber(number / 60)} minutes`}
    </span>
  )
}

/** A secret is never shown, only that it is set. */
function placeholderOf(
  { secret, source, ending, default: initial }: Setting,
  isCleared: boolean,
): string {
  if (isCleared) return initial === undefined ? 'will be cleared' : `default: ${initial}`
  if (!secret) return initial ?? 'not set'
  if (source === 'default') return 'not set'
  const description = ending ? `set, ends with …${ending}` : 'set'
  return source === 'environment' ? description : `${description}; type to replace`
}
