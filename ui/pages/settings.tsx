import { useSignal } from '@preact/signals'
import type { Setting } from '../../packages/client/src/agent-server.ts'
import { SaveBar, SettingField } from '../admin/setting-field.tsx'
import { type Draft, useSettings } from '../admin/settings-draft.ts'
import { bound, Form } from '../parts/controls.tsx'
import { Empty, ErrorNote } from '../parts/notes.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { href } from '../route.ts'

/** The variables of the server, as `.env` and the environment have them: a section at a time, or what a search finds. */
export function SettingsPage({ id }: { id?: string | undefined }) {
  const { settings, draft, failure, note, save } = useSettings()
  const words = useSignal('')
  const all = settings.value?.settings ?? []
  const sections = groupsOf(all)
  const isSearch = words.value.trim() !== ''
  const shown = sections.find(([group]) => slugOf(group) === id) ?? sections[0]
  const found = isSearch ? groupsOf(all.filter((one) => fits(one, words.value))) : shown && [shown]
  return (
    <>
      <div class="page-head">
        <h1>Settings</h1>
        <input
          type="search"
          class="event-words"
          aria-label="Find a setting"
          placeholder="Find a setting"
          {...bound(words)}
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
      <Sections
        sections={sections}
        current={isSearch ? undefined : shown?.[0]}
        draft={draft.value}
        onOpen={() => (words.value = '')}
      />
      <Form class="stack" hidden={all.length === 0} onSubmit={save}>
        {found?.map(([group, some]) => (
          <fieldset key={group} class="panel">
            <legend>
              <h2>{group}</h2>
            </legend>
            <div class="settings-grid">
              {some.map((setting) => (
                <SettingField key={setting.name} setting={setting} draft={draft} />
              ))}
            </div>
          </fieldset>
        ))}
        {found?.length === 0 && <Empty title="No matching settings" />}
        <SaveBar draft={draft} failure={failure.value} note={note.value} />
      </Form>
    </>
  )
}

type Section = readonly [name: string, settings: readonly Setting[]]

/** Leads to each section, and says where something is not saved yet. */
function Sections({
  sections,
  current,
  draft,
  onOpen,
}: {
  sections: readonly Section[]
  current: string | undefined
  draft: Draft
  onOpen: () => void
}) {
  if (sections.length < 2) return null
  return (
    <nav aria-label="Sections" class="settings-sections">
      {sections.map(([name, settings]) => {
        const changed = settings.filter((setting) => setting.name in draft).length
        return (
          <a
            key={name}
            href={href('settings', slugOf(name))}
            aria-current={name === current ? 'true' : undefined}
            onClick={onOpen}
          >
            {name}
            {changed > 0 && <span class="hint"> {changed} changed</span>}
          </a>
        )
      })}
    </nav>
  )
}

const slugOf = (group: string) => group.toLowerCase().replaceAll(' ', '-')

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
