import { useSignal } from '@preact/signals'
import type { Setting } from '../../client/src/agent-server.ts'
import { SaveBar, SettingField } from '../admin/setting-field.tsx'
import { useSettings } from '../admin/settings-draft.ts'
import { Empty, ErrorNote } from '../parts/notes.tsx'
import { Skeleton } from '../parts/skeleton.tsx'

/** The variables of the server, as `.env` and the environment have them. */
export function SettingsPage() {
  const { settings, draft, failure, note, save } = useSettings()
  const words = useSignal('')
  const all = settings.value?.settings ?? []
  const found = all.filter((setting) => fits(setting, words.value))
  return (
    <>
      <div class="page-head">
        <h1>Settings</h1>
        <input
          type="search"
          class="event-words"
          aria-label="Find a setting"
          placeholder="Find a setting"
          value={words.value}
          onInput={({ currentTarget }) => {
            words.value = currentTarget.value
          }}
        />
      </div>
      <p class="hint">
        Saved to <code>{settings.value?.path ?? '.env'}</code>. Values set by the environment take
        precedence and can only be changed there.
      </p>
      {settings.value?.mistakes.map(({ field, message }) => (
        <ErrorNote key={field} message={`${field} ${message}`} />
      ))}
      {all.length === 0 && <ErrorNote message={failure.value} />}
      {!settings.value && failure.value === '' && <Skeleton rows={8} />}
      <Sections names={groupsOf(found).map(([group]) => group)} />
      <form
        class="stack"
        hidden={all.length === 0}
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        {groupsOf(found).map(([group, some]) => (
          <fieldset key={group} class="panel">
            <legend>
              <h2 id={idOf(group)} tabIndex={-1}>
                {group}
              </h2>
            </legend>
            <div class="settings-grid">
              {some.map((setting) => (
                <SettingField key={setting.name} setting={setting} draft={draft} />
              ))}
            </div>
          </fieldset>
        ))}
        {all.length > 0 && found.length === 0 && <Empty title="No matching settings" />}
        <SaveBar draft={draft} failure={failure.value} note={note.value} />
      </form>
    </>
  )
}

/** Leads to each section. A link would take the place of the page in the address. */
function Sections({ names }: { names: readonly string[] }) {
  if (names.length < 2) return null
  const show = (name: string) => {
    const heading = document.getElementById(idOf(name))
    heading?.scrollIntoView()
    heading?.focus()
  }
  return (
    <nav aria-label="Sections" class="settings-sections">
      {names.map((name) => (
        <button key={name} type="button" class="quiet" onClick={() => show(name)}>
          {name}
        </button>
      ))}
    </nav>
  )
}

const idOf = (group: string) => `section-${group.replaceAll(' ', '-')}`

function fits({ name, label, meaning, group }: Setting, words: string): boolean {
  const text = `${name} ${label} ${meaning} ${group}`.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

function groupsOf(settings: readonly Setting[]): [string, Setting[]][] {
  return [...Map.groupBy(settings, ({ group }) => group || 'Other')]
}
