import { useSignal } from '@preact/signals'
import type { Capabilities, McpTestResult } from '../../client/src/agent-server.ts'
import { client } from '../api.ts'
import { formatSeconds } from '../format.ts'
import { ErrorNote, Status } from '../parts/notes.tsx'
import { href } from '../route.ts'
import type { AgentEditor } from './agent-editor.ts'
import { useWork } from './work.ts'

interface Form {
  editor: AgentEditor
}

/** MCP servers: each is tested as a run would reach it, before it is saved or enabled. */
export function Connections({
  editor,
  capabilities,
}: Form & { capabilities?: Capabilities | undefined }) {
  const servers = editor.field('mcpServers')
  const names = typeof servers === 'object' && servers ? Object.keys(servers) : []
  return (
    <>
      {names.map((name) => (
        <Connection
          key={name}
          editor={editor}
          name={name}
          waiting={capabilities?.mcp.find((one) => one.name === name)?.waiting ?? []}
        />
      ))}
      <NewConnection editor={editor} />
    </>
  )
}

function Connection({
  editor,
  name,
  waiting,
}: Form & { name: string; waiting: readonly string[] }) {
  const test = useWork<McpTestResult>()
  const path = ['mcpServers', name]
  const result = test.result.value
  /** What the test has shown, and nothing that came since. */
  const accept = () => {
    if (!result) return
    const { digest } = result
    void test.run(() => client.agent.mcp.test(name, { accept: true, digest }))
  }
  return (
    <fieldset class="stack">
      <legend>
        <strong>{name}</strong> <code>{String(editor.field(...path, 'url') ?? '')}</code>
      </legend>
      <div class="row">
        <label class="check">
          <input
            type="checkbox"
            checked={editor.field(...path, 'enabled') !== false}
            onChange={({ currentTarget }) =>
              editor.set([...path, 'enabled'], currentTarget.checked)
            }
          />
          Enabled<span class="visually-hidden"> {name}</span>
        </label>
        <button
          type="button"
          disabled={test.isBusy.value}
          onClick={() =>
            void test.run(() => client.admin.agent.trials.mcp(editor.text.value, name))
          }
        >
          Test<span class="visually-hidden"> {name}</span>
        </button>
        {waiting.length > 0 && (
          <button type="button" disabled={!result || test.isBusy.value} onClick={accept}>
            Accept {waiting.length} changed tools<span class="visually-hidden"> of {name}</span>
          </button>
        )}
        <button type="button" class="quiet danger" onClick={() => editor.set(path, undefined)}>
          Remove<span class="visually-hidden"> {name}</span>
        </button>
        {test.isBusy.value && <Status tone="busy">Connecting</Status>}
        {waiting.length > 0 && !result && (
          <span class="hint">Test the connection to see what needs to be accepted.</span>
        )}
      </div>
      <ErrorNote message={test.failure.value} />
      {result && <TestResult result={result} />}
    </fieldset>
  )
}

function TestResult({ result }: { result: McpTestResult }) {
  return (
    <div class="stack" role="status">
      <ul class="parts" aria-label="Steps">
        {result.steps.map(({ step, ok, milliseconds, message }) => (
          <li key={step}>
            <span class="part-name">{step}</span>
            <Status tone={ok ? 'good' : 'bad'}>{ok ? 'Works' : 'Fails'}</Status>
            <span class="part-detail">
              {message} ({formatSeconds(milliseconds)})
            </span>
          </li>
        ))}
      </ul>
      {result.tools.length > 0 && (
        <ul class="parts" aria-label="Tools of the server">
          {result.tools.map((tool) => (
            <li key={tool.name}>
              <span class="part-name">{tool.remoteName}</span>
              <Status tone={tool.state === 'on' ? 'good' : 'off'}>{tool.state}</Status>
              <span class="part-detail">
                {tool.description} {tool.reason}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

const EMPTY = { name: '', url: '', variable: '', clientId: '', secret: '', issuer: '' }
const FIELDS: readonly [keyof typeof EMPTY, string][] = [
  ['name', 'Name'],
  ['url', 'URL'],
  ['variable', 'Variable with a bearer token, if required'],
  ['clientId', 'OAuth client, if required'],
  ['secret', 'Variable with the OAuth client’s secret'],
  ['issuer', 'OAuth server that receives the secret'],
]

/** Secrets stay out of the file: it names the variable that holds them, which the Settings page sets. */
function NewConnection({ editor }: Form) {
  const draft = useSignal(EMPTY)
  const add = () => {
    const { name, url, variable, clientId, secret, issuer } = draft.value
    const headers = variable && { headers: { Authorization: `Bearer \${${variable}}` } }
    const client = { clientId, clientSecret: `\${${secret}}`, ...(issuer && { issuer }) }
    const oauth = clientId && { oauth: client }
    // Off until it has been tested.
    editor.set(['mcpServers', name], { url, ...(headers || {}), ...(oauth || {}), enabled: false })
    draft.value = EMPTY
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        add()
      }}
    >
      <div class="settings-fields">
        {FIELDS.map(([name, label]) => (
          <label key={name} class="field">
            <span class="label">{label}</span>
            <input
              required={
                name === 'name' ||
                name === 'url' ||
                (name === 'secret' && draft.value.clientId !== '')
              }
              value={draft.value[name]}
              onInput={({ currentTarget }) => {
                draft.value = { ...draft.value, [name]: currentTarget.value.trim() }
              }}
            />
          </label>
        ))}
      </div>
      <div class="row">
        <button type="submit">Add connection</button>
        <span class="hint">
          The connection is off until you enable it. After saving, set its variables on the{' '}
          <a href={href('settings')}>Settings</a> page, and can be tested before a restart.
        </span>
      </div>
    </form>
  )
}
