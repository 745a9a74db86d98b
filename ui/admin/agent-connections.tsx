import type { Capabilities, McpTestResult } from '../../packages/client/src/agent-server.ts'
import { client } from '../api.ts'
import { asSentence, counted, formatSeconds } from '../format.ts'
import { Button } from '../parts/controls.tsx'
import { ErrorNote, Status } from '../parts/notes.tsx'
import type { CardState } from './agent-card.tsx'
import type { AgentEditor } from './agent-editor.ts'
import { AllowHost } from './allow-host.tsx'
import { CheckedField, mistakeInUrl, NewConnection } from './new-connection.tsx'
import { useWork, Working } from './work.tsx'

type RunningConnections = Capabilities['mcp']

function namesIn(editor: AgentEditor): string[] {
  const servers = editor.field('mcpServers')
  return typeof servers === 'object' && servers ? Object.keys(servers) : []
}

const isEnabled = (editor: AgentEditor, name: string) =>
  editor.field('mcpServers', name, 'enabled') !== false

export function connectionsState(editor: AgentEditor, running: RunningConnections = []): CardState {
  const names = namesIn(editor)
  if (names.length === 0) return { tone: 'off', words: 'No connections' }
  const on = names.filter((name) => isEnabled(editor, name))
  const down = running.filter(({ name, state }) => on.includes(name) && state === 'unavailable')
  const words =
    on.length === names.length ? `${on.length} on` : `${on.length} of ${names.length} on`
  if (down.length > 0) {
    return {
      tone: 'bad',
      words: `${words}, not reached: ${down.map(({ name }) => name).join(', ')}`,
    }
  }
  const waiting = running.flatMap((one) => (on.includes(one.name) ? (one.waiting ?? []) : []))
  if (waiting.length > 0) {
    return { tone: 'bad', words: `${words}, ${counted(waiting.length, 'tool')} to accept` }
  }
  return { tone: on.length === 0 ? 'off' : 'good', words }
}

/** MCP servers: each is tested as a run would reach it, before it is saved or enabled. */
export function Connections({
  editor,
  running = [],
  onAccepted,
}: {
  editor: AgentEditor
  running?: RunningConnections | undefined
  onAccepted: () => Promise<void>
}) {
  const names = namesIn(editor)
  return (
    <>
      {names.map((name) => (
        <Connection
          key={name}
          editor={editor}
          name={name}
          waiting={running.find((one) => one.name === name)?.waiting ?? []}
          onAccepted={onAccepted}
        />
      ))}
      <NewConnection editor={editor} names={names} />
    </>
  )
}

/** All that decides how a server is reached. */
function choiceOf(editor: AgentEditor, name: string): string {
  const servers = editor.field('mcpServers', name)
  return JSON.stringify(servers, (key, value) => (key === 'enabled' ? undefined : value))
}

function Connection({
  editor,
  name,
  waiting,
  onAccepted,
}: {
  editor: AgentEditor
  name: string
  waiting: readonly string[]
  onAccepted: () => Promise<void>
}) {
  const test = useWork<McpTestResult>(choiceOf(editor, name))
  const path = ['mcpServers', name]
  const url = String(editor.field(...path, 'url') ?? '')
  const result = test.result.value
  const run = () =>
    test.run((signal) => client.admin.agent.trials.mcp(editor.text.value, name, { signal }))
  /** What the test has shown, and nothing that came since. */
  const accept = () => {
    if (!result) return
    const { digest } = result
    void test.run(async () => {
      const accepted = await client.agent.mcp.test(name, { accept: true, digest })
      await onAccepted()
      return accepted
    })
  }
  return (
    <fieldset class="stack">
      <legend>
        <strong>{name}</strong>
      </legend>
      <CheckedField
        label={
          <>
            URL<span class="visually-hidden"> of {name}</span>
          </>
        }
        value={url}
        mistake={mistakeInUrl(url)}
        isRequired
        onChange={(value) => editor.set([...path, 'url'], value)}
      />
      <div class="row">
        <label class="check">
          <input
            type="checkbox"
            checked={isEnabled(editor, name)}
            onChange={({ currentTarget }) =>
              editor.set([...path, 'enabled'], currentTarget.checked)
            }
          />
          Enabled<span class="visually-hidden"> {name}</span>
        </label>
        <Asking editor={editor} name={name} />
        <Button icon="test" about={name} disabled={test.isBusy.value} onClick={() => void run()}>
          Test
        </Button>
        {waiting.length > 0 && (
          <Button
            icon="done"
            about={`of ${name}`}
            disabled={!result || test.isBusy.value}
            onClick={accept}
          >
            Accept {counted(waiting.length, 'tool')}
          </Button>
        )}
        <Button
          icon="delete"
          about={name}
          class="quiet danger"
          onClick={() => editor.set(path, undefined)}
        >
          Remove
        </Button>
        <Working work={test} words="Connecting" about={`the test of ${name}`} />
        {waiting.length > 0 && !result && (
          <span class="hint">Test the connection to see what needs to be accepted.</span>
        )}
      </div>
      <ErrorNote message={test.failure.value} />
      {result && <TestResult result={result} onAllowed={() => void run()} />}
    </fieldset>
  )
}

/** Whether its tools wait for an approval: all, or those that the text lists. */
function Asking({ editor, name }: { editor: AgentEditor; name: string }) {
  const path = ['mcpServers', name, 'approval']
  const approval = editor.field(...path)
  if (Array.isArray(approval)) {
    return <span class="hint">Asks before calls of {counted(approval.length, 'tool')}</span>
  }
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={approval === 'always'}
        onChange={({ currentTarget }) =>
          editor.set(path, currentTarget.checked ? 'always' : undefined)
        }
      />
      Ask before each call<span class="visually-hidden"> of {name}</span>
    </label>
  )
}

const STEPS: Readonly<Record<McpTestResult['steps'][number]['step'], string>> = {
  configuration: 'Configuration',
  connect: 'Connect',
  'list-tools': 'List tools',
  accept: 'Accept tools',
  'call-tool': 'Call a tool',
}

function TestResult({ result, onAllowed }: { result: McpTestResult; onAllowed: () => void }) {
  const unlisted = result.steps.find(({ unlistedHost }) => unlistedHost)?.unlistedHost
  return (
    <div class="stack" role="status">
      <ul class="parts" aria-label="Steps">
        {result.steps.map(({ step, ok, milliseconds, message }) => (
          <li key={step}>
            <span class="part-name">{STEPS[step]}</span>
            <Status tone={ok ? 'good' : 'bad'}>{ok ? 'Works' : 'Fails'}</Status>
            <span class="part-detail">
              {message} ({formatSeconds(milliseconds)})
            </span>
          </li>
        ))}
      </ul>
      {unlisted && <AllowHost host={unlisted} onAllowed={onAllowed} />}
      {result.tools.length > 0 && (
        <ul class="parts" aria-label="Tools of the server">
          {result.tools.map((tool) => (
            <li key={tool.name}>
              <span class="part-name">{tool.remoteName}</span>
              <Status tone={tool.state === 'on' ? 'good' : 'off'}>{tool.state}</Status>
              <span class="part-detail">
                {asSentence(tool.description)} {asSentence(tool.reason)}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
