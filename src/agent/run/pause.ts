import { hash } from 'node:crypto'
import { AppError } from '@agent-server/lib/errors.ts'
import { newId } from '@agent-server/lib/new-id.ts'
import type { ModelMessage } from '@agent-server/models'
import type { Artifact } from '@agent-server/schemas/artifact.ts'
import { type Caller, MASTER, ownerIdOf } from '@agent-server/schemas/operator/api-key.ts'
import type { Hit } from '@agent-server/schemas/query.ts'
import type { ArtifactStore } from '@agent-server/stores'
import type { AgentRequest } from '@agent-server/wire'
import type { ToolResult } from '../tools/registry.ts'
import type { Spent } from './budget.ts'

/** What a server needs to continue a run. */
export interface PausedRun {
  sessionId: string
  hits: Hit[]
  /** How many of the hits are in the prompt, before the question. */
  chunks: number
  /** The messages that the run has added to the prompt; the last one contains the waiting calls. */
  added: ModelMessage[]
  /**
   * The results of the waiting calls, in their order, if they were begun: at least one of them asks the user something.
   */
  results?: ToolResult[] | undefined
  artifacts: Artifact[]
  activeSkills: string[]
  spent: Spent
  degraded: boolean
  searchedFor?: string | undefined
}

interface PausedRecord {
  run: PausedRun
  question: string
}

export type Pauses = ReturnType<typeof createPauses>

/** Which of these documents a caller may not read any more. */
type HiddenDocuments = (ids: readonly string[], caller: Caller) => Promise<ReadonlySet<string>>

/** Keeps paused runs for a while; each continues once. Uses `store` exclusively. */
export function createPauses(store: ArtifactStore, hiddenOf: HiddenDocuments) {
  return {
    /** Returns the state that names the run. Throws AppError `invalid_request` if it is too large, `storage_full`. */
    async keep(run: PausedRun, request: AgentRequest): Promise<string> {
      const record: PausedRecord = { run, question: digestOf(request) }
      const bytes = Buffer.from(JSON.stringify(record))
      if (bytes.length > store.maximumBytes) {
        const message =
          'The run has collected more data than can be kept while a tool call waits for approval: ask for less at once'
        throw new AppError('invalid_request', message)
      }
      const file = { id: newId('run'), name: 'run', mediaType: 'application/json', bytes }
      return (await store.add({ ...file, owner: ownerIdOf(request.caller) })).id
    },
    /** Throws AppError `invalid_request` unless the run waits, and for this conversation. */
    async open(state: string, request: AgentRequest): Promise<PausedRun> {
      const file = await store.read(state, ownerIdOf(request.caller))
      if (!file) throw gone()
      const { run, question }: PausedRecord = JSON.parse(Buffer.from(file.bytes).toString())
      if (question !== digestOf(request))
        throw refusal('belongs to different messages or a different key')
      const cited = run.hits.map(({ documentId }) => documentId)
      const hidden = await hiddenOf(cited, request.caller ?? MASTER)
      if (hidden.size > 0) throw gone()
      return run
    },
    /** Call before the run continues. Throws AppError `invalid_request` if it no longer waits. */
    async take(state: string): Promise<void> {
      if (!(await store.remove(state))) throw gone()
    },
  }
}

const gone = () => refusal('was already used, or has expired: send the question again without it')

function refusal(message: string): AppError {
  const param = 'resume.state'
  return new AppError('invalid_request', `${param}: ${message}`, { param })
}

function digestOf({ messages, caller }: AgentRequest): string {
  return hash('sha256', JSON.stringify(messages) + (ownerIdOf(caller) ?? ''))
}
