import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Capabilities, SandboxReport, Tool } from '../../client/src/agent-server.ts'
import { client } from '../api.ts'
import { ErrorNote, Status } from '../parts/notes.tsx'
import { Connections } from './agent-connections.tsx'
import type { AgentEditor } from './agent-editor.ts'
import { Skills } from './agent-skills.tsx'
import { serverState } from './server-state.ts'
import { useWork } from './work.ts'

interface Form {
  editor: AgentEditor
}

/** Every part of the agent as a form; each writes into the text below, which is saved as a whole. */
export function AgentForms({ editor }: Form) {
  const loaded = useLoaded()
  if (!editor.file.value) return <div class="panel forms-place" />
  if (!editor.fields.value) {
    return <p class="hint">The forms are available again once the text below is valid JSON.</p>
  }
  return (
    <section class="panel" aria-label="Parts of the agent">
      <Part title="Prompt">
        <label class="field">
          <span class="label">Instructions for the agent, added after the server’s own rules</span>
          <textarea
            rows={5}
            value={String(editor.field('prompt') ?? '')}
            onInput={({ currentTarget }) => editor.set(['prompt'], currentTarget.value)}
          />
        </label>
      </Part>
      <Part title="Tools">
        <Tools editor={editor} tools={loaded.value.tools} />
      </Part>
      <Part title="Skills">
        <Skills editor={editor} loaded={loaded.value.capabilities?.skills} />
      </Part>
      <Part title="MCP connections">
        <Connections editor={editor} capabilities={loaded.value.capabilities} />
      </Part>
      <Part title="Sandbox">
        <Sandbox editor={editor} />
      </Part>
      <Part title="Limits">
        <Limits editor={editor} />
      </Part>
    </section>
  )
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <details class="settings">
      <summary>{title}</summary>
      <div class="stack part-form">{children}</div>
    </details>
  )
}

/** What the server that runs has loaded; nothing where it is not launched. */
function useLoaded() {
  const loaded = useSignal<{ tools: Tool[]; capabilities?: Capabilities }>({ tools: [] })
  useEffect(() => {
    if (serverState.value && serverState.value.state !== 'running') return
    Promise.all([client.agent.tools(), client.agent.capabilities()]).then(
      ([tools, capabilities]) => {
        loaded.value = { tools, capabilities }
      },
      // The forms work without.
      () => undefined,
    )
  }, [])
  return loaded
}

function Tools({ editor, tools }: Form & { tools: readonly Tool[] }) {
  return (
    <ul class="stack">
      {Object.entries(editor.file.value?.toolSwitches ?? {}).map(([name, description]) => (
        <li key={name}>
          <label class="check">
            <input
              type="checkbox"
              checked={editor.field('tools', name) !== false}
              onChange={({ currentTarget }) => editor.set(['tools', name], currentTarget.checked)}
            />
            <code>{name}</code>
          </label>
          <span class="hint"> {description}</span>
          {tools
            .filter((tool) => tool.switch === name)
            .map((tool) => (
              <details key={tool.name}>
                <summary>
                  Definition{' '}
                  {tool.name === name ? (
                    <span class="visually-hidden">of {name}</span>
                  ) : (
                    <>
                      of <code>{tool.name}</code>
                    </>
                  )}
                </summary>
                <p class="hint">{tool.description}</p>
                <pre class="code">{JSON.stringify(tool.inputSchema, null, 2)}</pre>
              </details>
            ))}
        </li>
      ))}
    </ul>
  )
}

const KINDS = ['auto', 'embedded', 'bubblewrap', 'docker', 'e2b', 'none'] as const

function Sandbox({ editor }: Form) {
  const verify = useWork<SandboxReport>()
  const section = editor.field('sandbox')
  const isPlain = section === undefined || typeof section === 'string'
  const kind = String((isPlain ? section : editor.field('sandbox', 'kind')) ?? 'auto')
  return (
    <>
      <div class="row">
        <label class="field">
          <span class="label">Where code is run</span>
          <select
            value={kind}
            onChange={({ currentTarget }) =>
              editor.set(isPlain ? ['sandbox'] : ['sandbox', 'kind'], currentTarget.value)
            }
          >
            {KINDS.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <button
          type="button"
          disabled={verify.isBusy.value || kind === 'none'}
          onClick={() =>
            void verify.run(() => client.admin.agent.trials.sandbox(editor.text.value))
          }
        >
          Verify
        </button>
        {verify.isBusy.value && <Status tone="busy">Trying it; this takes some seconds</Status>}
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

const LIMITS = [
  ['rounds', 'Model calls', 8],
  ['toolCalls', 'Tool calls', 64],
  ['seconds', 'Seconds', 300],
  ['tokens', 'Tokens', 1_000_000],
] as const

function Limits({ editor }: Form) {
  return (
    <div class="settings-fields">
      {LIMITS.map(([name, label, initial]) => (
        <label key={name} class="field">
          <span class="label">{label} for one question</span>
          <input
            type="number"
            min={0}
            placeholder={String(initial)}
            value={String(editor.field('limits', name) ?? '')}
            onInput={({ currentTarget: { value } }) =>
              editor.set(['limits', name], value === '' ? undefined : Number(value))
            }
          />
        </label>
      ))}
    </div>
  )
}
