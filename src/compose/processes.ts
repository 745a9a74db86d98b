import { AppError } from '@agent-server/lib/errors.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { checkProcess, JOB_ENTRY } from '@agent-server/lib/processes/child-process.ts'
import { EMBED_ENTRY } from '@agent-server/models'
import { EXTRACT_ENTRY } from '@agent-server/readers'
import type { CodeSandbox } from '@agent-server/sandboxes'

export const PROCESS_REMEDY =
  'Run npm ci in the directory of the server on this machine, allow the server to start child processes, and restart it'

interface ProcessKind {
  name: string
  entry: URL
  /** What does not work without it. */
  consequence: string
}

/** The kinds of child process that the server starts. */
export const processesOf = (embedsHere: boolean): ProcessKind[] => [
  {
    name: 'file reader',
    entry: EXTRACT_ENTRY,
    consequence: 'files cannot be read: the process that reads them does not start',
  },
  {
    name: 'worker',
    entry: JOB_ENTRY,
    consequence: 'tables, charts and forms do not work: the process for them does not start',
  },
  ...(embedsHere
    ? [
        {
          name: 'embedder',
          entry: EMBED_ENTRY,
          consequence: 'nothing can be embedded: the process of the model does not start',
        },
      ]
    : []),
]

interface Dependencies {
  kinds: readonly ProcessKind[]
  sandbox: Pick<CodeSandbox, 'record'> | undefined
  log: Pick<Log, 'warn'>
}

/** Finds the kinds of child process that cannot be started here, long before a document or an answer needs them. */
export function createProcessChecks({ kinds, sandbox, log }: Dependencies) {
  const failed: ProcessKind[] = []

  async function starts({ entry, consequence }: ProcessKind): Promise<boolean> {
    try {
      await checkProcess(entry)
      return true
    } catch (err) {
      log.warn({ err, remedy: PROCESS_REMEDY }, consequence)
      return false
    }
  }

  async function checkKinds() {
    for (const kind of kinds) if (!(await starts(kind))) failed.push(kind)
  }

  async function checkSandbox() {
    const record = await sandbox?.record()
    if (record?.state !== 'unavailable') return
    log.warn({ kind: record.kind, remedy: record.reason }, 'code cannot be run')
  }

  return {
    /** Warns in the log. */
    warn: async () => void (await Promise.all([checkKinds(), checkSandbox()])),
    /** For readiness: throws AppError `internal` if a kind did not start, until the server is started again. */
    async check() {
      const [first] = failed
      if (first) throw new AppError('internal', `${sentenceOf(first)}. ${PROCESS_REMEDY}`)
    },
  }
}

const sentenceOf = ({ consequence }: ProcessKind) =>
  consequence.charAt(0).toUpperCase() + consequence.slice(1)
