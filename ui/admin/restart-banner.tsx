import { useEffect } from 'preact/hooks'
import { Button } from '../parts/controls.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { ErrorNote, Status } from '../parts/notes.tsx'
import {
  asking,
  begin,
  readServerState,
  restartFailure,
  serverState,
  transition,
} from './server-state.ts'

const POLL_MS = 15_000

/** Says that a restart is needed, and for what; nothing where it is not. */
export function RestartBanner() {
  useEffect(() => {
    void readServerState()
    const timer = setInterval(() => {
      if (!document.hidden && !transition.value) void readServerState()
    }, POLL_MS)
    return () => clearInterval(timer)
  }, [])
  const state = serverState.value?.restart
  if (transition.value) {
    return (
      <div class="note banner passing" role="status">
        <Status tone="busy">{transition.value}. This page reconnects automatically.</Status>
      </div>
    )
  }
  return (
    <>
      <ErrorNote message={restartFailure.value} />
      {state?.required && (
        <div class="note banner" role="status">
          <p>
            <strong>Restart needed.</strong> Changed since the last start: {areasOf(state)}.
          </p>
          <Button icon="retry" onClick={() => (asking.value = 'restart')}>
            Restart
          </Button>
        </div>
      )}
      {asking.value && <AskFirst what={asking.value} />}
    </>
  )
}

function AskFirst({ what }: { what: 'restart' | 'stop' }) {
  const name = what === 'restart' ? 'Restart' : 'Stop'
  return (
    <Confirm
      title={`${name} the server?`}
      action={name}
      icon={what === 'restart' ? 'retry' : 'stop'}
      onConfirm={() => void begin(what)}
      onClose={() => (asking.value = '')}
    >
      <p>
        Answers in progress have a few seconds to finish. An evaluation that is running is
        interrupted.{' '}
        {what === 'restart'
          ? 'Documents being processed are resumed after the restart.'
          : 'Until the server is started again, API requests get status 503.'}
      </p>
    </Confirm>
  )
}

function areasOf({ agent, settings }: { agent: string[]; settings: string[] }): string {
  const areas = [...agent.map((field) => `agent ${field}`), ...settings]
  return areas.join(', ') || 'the configuration'
}
