import { AppError } from '@agent-server/lib/errors.ts'
import { SandboxLimits } from '../src/limits.ts'
import type { RunResult, Sandbox, SandboxSession } from '../src/sandbox.ts'

const RESULT: RunResult = {
  outcome: 'finished',
  exitCode: 0,
  stdout: '',
  stderr: '',
  outputCut: false,
  files: [],
  filesLeftOut: 0,
  milliseconds: 1,
}

export interface FakeSession extends SandboxSession {
  /** What it was asked to run. */
  codes: string[]
}

/**
 * A fake sandbox for those who keep sessions: it runs nothing. `crash` as code ends the session, `wait` goes
 * on until the session is killed or the signal aborted.
 */
export function createFakeSandbox(kind: Sandbox['kind'] = 'embedded') {
  const sessions: FakeSession[] = []
  const state = { broken: false, closed: false }

  function open(): FakeSession {
    let alive = true
    const killed = Promise.withResolvers<void>()
    const codes: string[] = []
    return {
      codes,
      get alive() {
        return alive
      },
      async run({ code }, signal) {
        signal.throwIfAborted()
        codes.push(code)
        if (code === 'wait') await waitFor(killed.promise, signal)
        if (code === 'crash') alive = false
        return alive ? RESULT : { ...RESULT, outcome: 'crashed', exitCode: undefined }
      },
      async kill() {
        alive = false
        killed.resolve()
      },
    }
  }
  const refuse = () => {
    if (state.broken) throw new AppError('sandbox_unavailable', `There is no ${kind} here`)
  }

  const sandbox: Sandbox = {
    kind,
    limits: SandboxLimits.parse({}),
    check: async () => refuse(),
    async open() {
      refuse()
      const session = open()
      sessions.push(session)
      return session
    },
    async close() {
      state.closed = true
    },
  }
  return { sandbox, sessions, state }
}

function waitFor(killed: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    void killed.then(resolve)
  })
}
