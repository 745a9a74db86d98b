import type { Setting } from '../../client/src/agent-server.ts'
import { SaveBar, SettingField } from '../admin/setting-field.tsx'
import { useSettings } from '../admin/settings-draft.ts'
import { ErrorNote } from '../parts/notes.tsx'

/** The variables of the server, as `.env` and the environment have them. */
export function SettingsPage() {
  const { settings, draft, failure, note, save } = useSettings()
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
        <SaveBar draft={draft} failure={failure.value} note={note.value} />
      </form>
    </>
  )
}

function groupsOf(settings: readonly Setting[]): [string, Setting[]][] {
  return [...Map.groupBy(settings, ({ group }) => group || 'Other')]
}
