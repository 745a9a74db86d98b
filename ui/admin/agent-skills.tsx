import { useSignal } from '@preact/signals'
import type { SkillList } from '../../client/src/agent-server.ts'
import { client } from '../api.ts'
import { ErrorNote, Status } from '../parts/notes.tsx'
import type { AgentEditor } from './agent-editor.ts'
import { useWork } from './work.ts'

/** What counts where the file names no sources. */
const DEFAULT_SOURCES = ['skills']

const sourcesIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(String) : DEFAULT_SOURCES

/** Where skills come from, and which the server has; each source is read when somebody asks, before it is saved. */
export function Skills({
  editor,
  loaded,
}: {
  editor: AgentEditor
  loaded: SkillList['skills'] | undefined
}) {
  const added = useSignal('')
  const look = useWork<SkillList>()
  const sources = sourcesIn(editor.field('skills', 'sources'))
  const write = (next: readonly string[]) => editor.set(['skills', 'sources'], next)
  return (
    <>
      <ul class="sources">
        {sources.map((source) => (
          <li key={source}>
            <span>
              <code>{source}</code>
              {source === 'skills' && (
                <span class="hint"> the folder beside agent.json; the server comes with one</span>
              )}
            </span>
            <span class="row tight">
              <button
                type="button"
                class="quiet"
                disabled={look.isBusy.value}
                onClick={() =>
                  void look.run(() => client.agent.skills.reload({ source, accept: true }))
                }
              >
                Accept the current content<span class="visually-hidden"> for {source}</span>
              </button>
              <button
                type="button"
                class="quiet danger"
                onClick={() => write(sources.filter((one) => one !== source))}
              >
                Remove<span class="visually-hidden"> {source}</span>
              </button>
            </span>
          </li>
        ))}
      </ul>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          const source = added.value.trim()
          if (source && !sources.includes(source)) write([...sources, source])
          added.value = ''
        }}
      >
        <label class="field grow">
          <span class="label">
            URL, folder relative to this file, or github:owner/repository/path
          </span>
          <input
            value={added.value}
            onInput={({ currentTarget }) => {
              added.value = currentTarget.value
            }}
          />
        </label>
        <button type="submit">Add skill</button>
      </form>
      <div class="row">
        <button
          type="button"
          disabled={look.isBusy.value || sources.length === 0}
          onClick={() => void look.run(() => client.admin.agent.trials.skills(editor.text.value))}
        >
          Check skills
        </button>
        {look.isBusy.value && <Status tone="busy">Reading</Status>}
      </div>
      <ErrorNote message={look.failure.value} />
      <SkillRecords skills={look.result.value?.skills ?? loaded} />
    </>
  )
}

function SkillRecords({ skills }: { skills: SkillList['skills'] | undefined }) {
  if (!skills) return null
  return (
    <ul class="parts" aria-label="Skills found">
      {skills.map(({ name, description, state, reason, warnings = [] }) => (
        <li key={name}>
          <span class="part-name">{name}</span>
          <Status tone={state === 'on' ? 'good' : state === 'off' ? 'off' : 'bad'}>{state}</Status>
          <span class="part-detail">
            {reason ?? description} {warnings.length > 0 && `Warnings: ${warnings.join('; ')}`}
          </span>
        </li>
      ))}
    </ul>
  )
}
