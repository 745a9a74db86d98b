import { useSignal } from '@preact/signals'
import type { SkillList } from '../../packages/client/src/agent-server.ts'
import { client } from '../api.ts'
import { counted } from '../format.ts'
import { Button, bound, Field, Form } from '../parts/controls.tsx'
import { ErrorNote, Status } from '../parts/notes.tsx'
import type { CardState } from './agent-card.tsx'
import type { AgentEditor } from './agent-editor.ts'
import { useWork, Working } from './work.tsx'

type SkillRecords = SkillList['skills']

/** What counts where the file names no sources. */
const DEFAULT_SOURCES = ['skills']

const listIn = (value: unknown): string[] | undefined =>
  Array.isArray(value) ? value.map(String) : undefined
const sourcesIn = (editor: AgentEditor) =>
  listIn(editor.field('skills', 'sources')) ?? DEFAULT_SOURCES

/** The skills of the sources in the text; undefined until they are read. */
const recordsIn = (sources: readonly string[], records: SkillRecords | undefined) =>
  records?.filter(({ source }) => source !== undefined && sources.includes(source))

/** Only of these is a copy kept, which stays the accepted one until somebody accepts another. */
const isRemote = (source: string) => /^(?:https?:\/\/|github:)/.test(source)

/** Whether the text has a skill switched on. */
function isOn(editor: AgentEditor, name: string): boolean {
  const enabled = listIn(editor.field('skills', 'enabled'))
  const disabled = listIn(editor.field('skills', 'disabled')) ?? []
  return !disabled.includes(name) && (enabled?.includes(name) ?? true)
}

function switchSkill(editor: AgentEditor, name: string, isOnNow: boolean): void {
  const enabled = listIn(editor.field('skills', 'enabled'))
  const disabled = (listIn(editor.field('skills', 'disabled')) ?? []).filter((one) => one !== name)
  if (isOnNow && enabled && !enabled.includes(name)) {
    editor.set(['skills', 'enabled'], [...enabled, name])
  }
  const off = isOnNow ? disabled : [...disabled, name]
  editor.set(['skills', 'disabled'], off.length === 0 ? undefined : off)
}

export function skillsState(editor: AgentEditor, loaded: SkillRecords | undefined): CardState {
  const sources = sourcesIn(editor)
  if (sources.length === 0) return { tone: 'off', words: 'None' }
  const records = recordsIn(sources, loaded)
  if (!records) return { tone: 'good', words: `From ${counted(sources.length, 'source')}` }
  const failed = records.filter(({ state }) => state === 'unavailable').length
  const on = records.filter(
    ({ name, state }) => state !== 'unavailable' && isOn(editor, name),
  ).length
  const words = on === 0 ? 'None on' : `${on} on`
  if (failed > 0) return { tone: 'bad', words: `${words}, ${failed} not usable` }
  return { tone: on === 0 ? 'off' : 'good', words }
}

/** Where skills come from, and which the server has; each source is read when somebody asks, before it is saved. */
export function Skills({
  editor,
  loaded,
}: {
  editor: AgentEditor
  loaded: SkillRecords | undefined
}) {
  const sources = sourcesIn(editor)
  const look = useWork<SkillList>(JSON.stringify(sources))
  const write = (next: readonly string[]) => editor.set(['skills', 'sources'], next)
  const accept = (source: string) =>
    look.run((signal) => client.agent.skills.reload({ source, accept: true }, { signal }))
  const check = () =>
    look.run((signal) => client.admin.agent.trials.skills(editor.text.value, { signal }))
  return (
    <>
      <SkillSwitches
        editor={editor}
        skills={recordsIn(sources, look.result.value?.skills ?? loaded)}
      />
      <ul class="sources" aria-label="Sources of skills">
        {sources.map((source) => (
          <li key={source}>
            <span>
              <code>{source}</code>
              {source === 'skills' && (
                <span class="hint"> the folder next to agent.json, included with the server</span>
              )}
            </span>
            <span class="row tight">
              {isRemote(source) && loaded?.some((one) => one.source === source) && (
                <Button
                  icon="done"
                  about={`for ${source}`}
                  class="quiet"
                  disabled={look.isBusy.value}
                  onClick={() => void accept(source)}
                >
                  Accept the current content
                </Button>
              )}
              <Button
                icon="delete"
                about={source}
                class="quiet danger"
                onClick={() => write(sources.filter((one) => one !== source))}
              >
                Remove
              </Button>
            </span>
          </li>
        ))}
      </ul>
      <NewSource sources={sources} onAdd={(source) => write([...sources, source])} />
      <div class="row">
        <Button
          icon="test"
          disabled={look.isBusy.value || sources.length === 0}
          onClick={() => void check()}
        >
          Check skills
        </Button>
        <Working work={look} words="Reading" />
      </div>
      <ErrorNote message={look.failure.value} />
    </>
  )
}

function NewSource({
  sources,
  onAdd,
}: {
  sources: readonly string[]
  onAdd: (source: string) => void
}) {
  const newSource = useSignal('')
  return (
    <Form
      class="row"
      onSubmit={() => {
        const source = newSource.value.trim()
        if (source && !sources.includes(source)) onAdd(source)
        newSource.value = ''
      }}
    >
      <Field
        label="URL, folder relative to the configuration file, or github:owner/repository/path"
        class="grow"
      >
        <input {...bound(newSource)} />
      </Field>
      <Button icon="add" type="submit">
        Add skill
      </Button>
    </Form>
  )
}

function SkillSwitches({
  editor,
  skills,
}: {
  editor: AgentEditor
  skills: SkillRecords | undefined
}) {
  if (!skills) return null
  return (
    <ul class="stack" aria-label="Skills found">
      {skills.map(({ name, description, state, reason, source, warnings = [] }) => (
        <li key={`${source} ${name}`}>
          {state === 'unavailable' ? (
            <Status tone="bad">
              {name}: unavailable. {reason}
            </Status>
          ) : (
            <label class="check">
              <input
                type="checkbox"
                checked={isOn(editor, name)}
                onChange={({ currentTarget }) => switchSkill(editor, name, currentTarget.checked)}
              />
              <span>
                <strong>{name}</strong> <span class="hint">{description}</span>
              </span>
            </label>
          )}
          {warnings.length > 0 && <p class="hint below">Warnings: {warnings.join('; ')}</p>}
        </li>
      ))}
    </ul>
  )
}
