import type { Capabilities, SandboxReport } from '../../packages/client/src/agent-server.ts'
import { client } from '../api.ts'
import { Button, Field } from '../parts/controls.tsx'
import { ErrorNote, Status } from '../parts/notes.tsx'
import type { CardState } from './agent-card.tsx'
import type { AgentEditor } from './agent-editor.ts'
import { useWork, Working } from './work.tsx'

const KINDS: Readonly<Record<string, string>> = {
  auto: 'Automatic: the strongest that works here',
  embedded: 'Built in: Python in WebAssembly',
  bubblewrap: 'Bubblewrap: Linux namespaces',
  docker: 'Docker: a container for each conversation',
  e2b: 'E2B: a remote machine',
  none: 'Off: no code is run',
}

/** The field may be only the kind, or an object with limits. */
function choiceOf(editor: AgentEditor) {
  const section = editor.field('sandbox')
  const isPlain = section === undefined || typeof section === 'string'
  const path = isPlain ? ['sandbox'] : ['sandbox', 'kind']
  return { path, kind: String(editor.field(...path) ?? 'auto') }
}

export function sandboxState(
  editor: AgentEditor,
  running: Capabilities['sandbox'] | undefined,
): CardState {
  const { kind } = choiceOf(editor)
  const [name = kind] = KINDS[kind]?.split(':') ?? []
  if (kind === 'none') return { tone: 'off', words: 'No code is run' }
  if (running?.state === 'on' && (kind === 'auto' || kind === running.kind)) {
    const [name = running.kind] = KINDS[running.kind]?.split(':') ?? []
    return { tone: 'good', words: kind === 'auto' ? `Automatic: ${name}` : name }
  }
  if (running?.state === 'unavailable' && kind === 'auto') {
    return { tone: 'bad', words: 'Automatic, but none works here' }
  }
  return { tone: 'off', words: kind === 'auto' ? name : `${name}, not verified yet` }
}

export function SandboxForm({ editor }: { editor: AgentEditor }) {
  const { path, kind } = choiceOf(editor)
  const verify = useWork<SandboxReport>(JSON.stringify(editor.field('sandbox')))
  const run = () =>
    verify.run((signal) => client.admin.agent.trials.sandbox(editor.text.value, { signal }))
  return (
    <>
      <div class="row">
        <Field label="Where code is run">
          <select
            value={kind}
            onChange={({ currentTarget }) => editor.set(path, currentTarget.value)}
          >
            {Object.entries(KINDS).map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        </Field>
        <Button
          icon="test"
          disabled={verify.isBusy.value || kind === 'none'}
          onClick={() => void run()}
        >
          Verify
        </Button>
        <Working work={verify} words="Verifying. This takes a few seconds." />
      </div>
      <ErrorNote message={verify.failure.value} />
      {verify.result.value && (
        <ul class="parts" aria-label="Probes">
          {verify.result.value.probes.map(({ name, ok, message, remedy }) => (
            <li key={name}>
              <span class="part-name">{name}</span>
              <Status tone={ok ? 'good' : 'bad'}>{ok ? 'Holds' : 'Fails'}</Status>
              <span class="part-detail">
                {message} {remedy && <span class="remedy">{remedy}</span>}
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
