import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Setting, Settings } from '../../client/src/agent-server.ts'
import { readServerState } from '../admin/server-state.ts'
import { client, messageOf } from '../api.ts'
import { ErrorNote } from '../parts/notes.tsx'

/** What is to change: a new value by name, or null for none but the default. */
type Draft = Readonly<Record<string, string | null>>

/** The variables of the server, as `.env` and the environment have them. */
export function SettingsPage() {
  const settings = useSignal<Settings | undefined>(undefined)
  const draft = useSignal<Draft>({})
  const failure = useSignal('')
  const note = useSignal('')
  const read = async () => {
    try {
      settings.value = await client.admin.settings.get()
    } catch (error) {
      failure.value = messageOf(error)
    }
  }
  useEffect(() => void read(), [])

  const save = async () => {
    if (!settings.value) return
    failure.value = ''
    note.value = ''
    try {
      const saved = await client.admin.settings.save(patchOf(draft.value, settings.value.digest))
      settings.value = saved.settings
      draft.value = {}
      note.value =
        saved.changed.length > 0 ? `Saved: ${saved.changed.join(', ')}.` : 'Nothing changed.'
      await readServerState()
    } catch (error) {
      failure.value = messageOf(error)
      // What somebody else saved meanwhile is shown; what was typed here stays.
      await read()
    }
  }
  const count = Object.keys(draft.value).length
  return (
    <>
      <h1>Settings</h1>
      <p class="hint">
        Written to <code>{settings.value?.path ?? '.env'}</code>. What the environment itself sets
        wins, and is changed there.
      </p>
      {settings.value?.mistakes.map(({ field, message }) => (
        <ErrorNote key={field} message={`${field} ${message}`} />
      ))}
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        {groupsOf(settings.value?.settings ?? []).map(([group, all]) => (
          <fieldset key={group} class="panel stack">
            <legend>
              <h2>{group}</h2>
            </legend>
            {all.map((setting) => (
              <SettingField key={setting.name} setting={setting} draft={draft} />
            ))}
          </fieldset>
        ))}
        <div class="save-bar">
          <ErrorNote message={failure.value} />
          <p role="status">{note.value}</p>
          <div class="row">
            <button type="submit" class="primary" disabled={count === 0}>
              Save
            </button>
            {count > 0 && (
              <button
                type="button"
                onClick={() => {
                  draft.value = {}
                }}
              >
                Discard
              </button>
            )}
            <span class="hint">
              {count > 0 && `Changed: ${Object.keys(draft.value).join(', ')}`}
            </span>
          </div>
        </div>
      </form>
    </>
  )
}

function patchOf(draft: Draft, basedOn: string) {
  const entries = Object.entries(draft)
  const set = Object.fromEntries(entries.flatMap(([name, value]) => (value ? [[name, value]] : [])))
  return { basedOn, set, clear: entries.flatMap(([name, value]) => (value ? [] : [name])) }
}

function groupsOf(settings: readonly Setting[]): [string, Setting[]][] {
  return [...Map.groupBy(settings, ({ group }) => group || 'Other')]
}

function SettingField({ setting, draft }: { setting: Setting; draft: Signal<Draft> }) {
  const { name, meaning, secret, source } = setting
  const typed = draft.value[name]
  const change = (value: string | null | undefined) => {
    const { [name]: _, ...others } = draft.value
    draft.value = value === undefined ? others : { ...others, [name]: value }
  }
  const isCleared = typed === null
  const hint = `hint-${name}`
  return (
    <div class="setting">
      <label class="field">
        <span class="label">
          <code>{name}</code>
        </span>
        <input
          {...(secret ? { type: 'password' as const } : { type: 'text' as const })}
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
      </label>
      <div class="row spread">
        <p class="hint" id={hint}>
          {meaning}{' '}
          {source === 'environment' && <strong>Set by the environment; changed there.</strong>}
        </p>
        {source === 'file' && !isCleared && (
          <button type="button" class="quiet" onClick={() => change(null)}>
            Clear<span class="visually-hidden"> {name}</span>
          </button>
        )}
        {typed !== undefined && (
          <button type="button" class="quiet" onClick={() => change(undefined)}>
            Undo<span class="visually-hidden"> {name}</span>
          </button>
        )}
      </div>
    </div>
  )
}

/** A secret is never shown: that there is one, at most. */
function placeholderOf(
  { secret, source, ending, default: initial }: Setting,
  isCleared: boolean,
): string {
  if (isCleared) return initial === undefined ? 'will be cleared' : `default: ${initial}`
  if (!secret) return initial ?? 'not set'
  if (source === 'default') return 'not set'
  const known = ending ? `set, ends with …${ending}` : 'set'
  return source === 'environment' ? known : `${known}; type to replace`
}
