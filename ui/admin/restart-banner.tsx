import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Confirm } from '../parts/dialog.tsx'
import { ErrorNote, Status } from '../parts/notes.tsx'
import {
  isRestarting,
  readServerState,
  restart,
  restartFailure,
  serverState,
} from './server-state.ts'

const POLL_MS = 15_000

/** Says that a restart is needed, and for what; nothing where it is not. */
export function RestartBanner() {
  const isAsking = useSignal(false)
  useEffect(() => {
    void readServerState()
    const timer = setInterval(() => {
      if (!document.hidden && !isRestarting.value) void readServerState()
    }, POLL_MS)
    return () => clearInterval(timer)
  }, [])
  const state = serverState.value?.restart
  if (isRestarting.value) {
    return (
      <div class="note banner" role="status">
        <Status tone="busy">Restarting. This page goes on by itself.</Status>
      </div>
    )
  }
  return (
    <>
      <ErrorNote message={restartFailure.value} />
      {state?.required && (
        <div class="note banner" role="status">
          <p>
            <strong>Restart needed.</strong> Changed since the start: {areasOf(state)}.
            {!state.possible && ` ${state.reason ?? 'Restart it where it was started.'}`}
          </p>
          {state.possible && (
            <button
              type="button"
              onClick={() => {
                isAsking.value = true
              }}
            >
              Restart
            </button>
          )}
        </div>
      )}
      {isAsking.value && (
        <Confirm
          title="Restart the server?"
          action="Restart"
          onConfirm={() => {
            isAsking.value = false
            void restart()
          }}
          onClose={() => {
            isAsking.value = false
          }}
        >
          <p>
            Answers that are under way get some seconds to finish. Documents in work are taken up
            again.
          </p>
        </Confirm>
      )}
    </>
  )
}

function areasOf({ agent, settings }: { agent: string[]; settings: string[] }): string {
  const areas = [...agent.map((field) => `agent ${field}`), ...settings]
  return areas.join(', ') || 'the configuration'
}
