import { type Signal, useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { Button, bound } from './controls.tsx'

/** As many as the server takes. */
const MAX_ENTRIES = 50
const MAX_ID = 255
const KINDS = [
  ['user', 'Person'],
  ['group', 'Group'],
  ['public', 'Everybody'],
] as const

/** A list of people and groups, and what is typed of the next entry. */
export interface AccessDraft {
  entries: Signal<readonly string[]>
  kind: Signal<string>
  typed: Signal<string>
}

export const useAccessDraft = (entries: readonly string[] = []): AccessDraft => ({
  entries: useSignal(entries),
  kind: useSignal('user'),
  typed: useSignal(''),
})

/** The entries, what is typed and not added yet among them. */
export function entriesOf({ entries, kind, typed }: AccessDraft): string[] {
  const id = typed.value.trim()
  const entry = kind.value === 'public' ? 'public' : `${kind.value}:${id}`
  const isTyped = kind.value === 'public' || id !== ''
  return [...new Set([...entries.value, ...(isTyped ? [entry] : [])])]
}

/** An entry of such a list in words. */
export function principalName(entry: string): string {
  if (entry === 'public') return 'Everybody who has signed in'
  const [, kind, id = entry] = /^(user|group):(.*)$/su.exec(entry) ?? []
  return kind === 'group' ? `Group ${id}` : id
}

/** Changes who is in a list. */
export function AccessList({ legend, draft }: { legend: string; draft: AccessDraft }) {
  const { entries, kind, typed } = draft
  const title = useId()
  const add = () => {
    entries.value = entriesOf(draft)
    typed.value = ''
    kind.value = kind.value === 'public' ? 'user' : kind.value
  }
  return (
    <fieldset class="access" aria-labelledby={title}>
      <span id={title} class="label">
        {legend}
      </span>
      <ul aria-labelledby={title}>
        {entries.value.map((entry) => (
          <li key={entry} class="chip">
            <span class="file-name">{principalName(entry)}</span>
            <Button
              icon="cancel"
              class="quiet remove"
              aria-label={`Remove ${principalName(entry)}`}
              onClick={() => (entries.value = entries.value.filter((one) => one !== entry))}
            />
          </li>
        ))}
      </ul>
      <div class="row tight">
        <select aria-label={`Kind of entry for ${legend}`} {...bound(kind)}>
          {KINDS.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
        {kind.value !== 'public' && (
          <input
            aria-label={`Id for ${legend}`}
            placeholder={kind.value === 'user' ? 'Id of the person' : 'Id of the group'}
            maxLength={MAX_ID}
            autocomplete="off"
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || typed.value.trim() === '') return
              event.preventDefault()
              add()
            }}
            {...bound(typed)}
          />
        )}
        <Button
          icon="add"
          about={`to ${legend}`}
          disabled={
            entries.value.length >= MAX_ENTRIES || entriesOf(draft).length === entries.value.length
          }
          onClick={add}
        >
          Add
        </Button>
      </div>
    </fieldset>
  )
}
