import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ServerState, Setting, Settings } from '../../packages/client/src/agent-server.ts'
import { attempt, client } from '../api.ts'
import { Button, Choice } from '../parts/controls.tsx'
import { Empty, ErrorNote, Status } from '../parts/notes.tsx'
import { href } from '../route.ts'
import { asking, begin, readServerState, serverState, transition } from './server-state.ts'

const STATES = {
  running: { tone: 'good', name: 'Running' },
  stopped: { tone: 'off', name: 'Stopped' },
  failed: { tone: 'bad', name: 'Failed to start' },
} as const

/** The state of the server, what keeps it from starting, its mode, and what launches and stops it. */
export function ServerPanel() {
  const state = serverState.value
  if (!state) return null
  const { tone, name } = STATES[state.state]
  const isRunning = state.state === 'running'
  const isBusy = transition.value !== ''
  const ask = (what: 'restart' | 'stop') => () => {
    asking.value = what
  }
  return (
    <section class="panel wide stack" aria-labelledby="server">
      <div class="page-head">
        <h2 id="server">Server</h2>
        <div class="row">
          {isRunning ? (
            <>
              <Button icon="stop" disabled={isBusy} onClick={ask('stop')}>
                Stop
              </Button>
              <Button icon="retry" disabled={isBusy} onClick={ask('restart')}>
                Restart
              </Button>
            </>
          ) : (
            <Button
              icon="start"
              class="primary"
              disabled={isBusy}
              onClick={() => void begin('launch')}
            >
              Start
            </Button>
          )}
        </div>
      </div>
      {!isRunning && <Status tone={tone}>{name}</Status>}
      {isRunning && state.reason && (
        <ErrorNote
          message={`The server runs with its earlier settings, because it did not start with those saved: ${state.reason}`}
        />
      )}
      <Mistakes state={state} />
      <Mode />
    </section>
  )
}

/** Problems that would prevent a start, each with the place to fix it. */
function Mistakes({ state: { state, mistakes } }: { state: ServerState }) {
  const all = [
    ...mistakes.settings.map((mistake) => ({ ...mistake, path: 'settings', page: 'Settings' })),
    ...mistakes.agent.map((mistake) => ({ ...mistake, path: 'agent', page: 'Agent' })),
  ]
  if (all.length === 0) {
    return state === 'failed' ? <p>All mistakes are fixed. You can start the server.</p> : null
  }
  return (
    <div class="error-note">
      <p>
        {state === 'running'
          ? 'The server would not restart because of these mistakes:'
          : 'Fix these mistakes before starting the server:'}
      </p>
      <ul aria-label="Mistakes">
        {all.map(({ field, message, path, page }) => (
          <li key={path + field + message}>
            <code>{field || page}</code> {message} (<a href={href(path)}>{page}</a>)
          </li>
        ))}
      </ul>
    </div>
  )
}

const MODES = [
  ['agent', 'Agent', 'Everything: documents, search, chat, tools, skills, MCP and code.'],
  ['knowledge', 'Knowledge', 'Documents, search and chat with citations, without tools.'],
] as const

/** Written into `.env` when it is chosen; it counts from the next launch. */
function Mode() {
  const setting = useSignal<Setting | undefined>(undefined)
  const failure = useSignal('')
  const take = ({ settings }: Settings) => {
    setting.value = settings.find(({ name }) => name === 'SERVER_MODE')
  }
  useEffect(() => void attempt(failure, async () => take(await client.admin.settings.get())), [])
  const choose = (mode: string) =>
    attempt(failure, async () => {
      const { digest } = await client.admin.settings.get()
      const set = { SERVER_MODE: mode }
      take((await client.admin.settings.save({ basedOn: digest, set })).settings)
      await readServerState()
    })
  if (!setting.value) return <ErrorNote message={failure.value} />
  const { value, source } = setting.value
  return (
    <div class="stack">
      <Choice
        legend="Mode"
        options={MODES.map(([mode, name]) => [mode, name])}
        chosen={value}
        onChoose={(mode) => void choose(mode)}
        disabled={source === 'environment'}
      />
      <p class="hint">
        {MODES.find(([mode]) => mode === value)?.[2]}
        {source === 'environment' && ' It is set in the environment and can only be changed there.'}
      </p>
      <ErrorNote message={failure.value} />
    </div>
  )
}

/** In place of a page that a server which is not launched cannot fill. */
export function NotLaunched({ title }: { title: string }) {
  return (
    <>
      <h1>{title}</h1>
      <Empty title="The server is not running">
        <p>
          Start it on the <a href={href()}>Overview</a> page to use this one.
        </p>
      </Empty>
    </>
  )
}
