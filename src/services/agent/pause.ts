import { createHmac, hash } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { AppError } from '../../errors.ts'
import { isSameSecret } from '../../lib/same-secret.ts'
import type { ModelMessage } from '../../models/chat-model.ts'
import type { Artifact } from '../../schemas/artifact.ts'
import { MAX_STATE } from '../../schemas/chat.ts'
import type { Hit } from '../../schemas/query.ts'
import type { AgentRequest } from './agent-event.ts'
import type { Spent } from './budget.ts'

/** How long a paused run can be continued. */
const WAIT_MS = 86_400_000

/** The state that a server needs to continue a run. The client keeps it, signed so that it cannot be modified. */
export interface PausedRun {
  conversation: string
  key: string
  hits: Hit[]
  /** How many of the hits are in the prompt, before the question. */
  chunks: number
  /** The messages that the run has added to the prompt; the last one contains the waiting calls. */
  added: ModelMessage[]
  artifacts: Artifact[]
  /** Absent if the run was paused by a server of an earlier version. */
  activeSkills?: string[]
  spent: Spent
  degraded: boolean
  searchedFor?: string | undefined
}

interface Sealed {
  run: PausedRun
  question: string
  /** Expiry time, in milliseconds since 1970. */
  until: number
}

export type Pauses = ReturnType<typeof createPauses>

/** Signs the state of paused runs with the server's key, and verifies it. The state is not encrypted. */
export function createPauses(serverKey: string) {
  const sign = (packed: string) =>
    createHmac('sha256', serverKey).update(`paused run: ${packed}`).digest('base64url')

  return {
    /** Throws AppError `invalid_request` if the state would be longer than `MAX_STATE`, which requests may contain. */
    seal(run: PausedRun, request: AgentRequest): string {
      const sealed: Sealed = { run, question: digestOf(request), until: Date.now() + WAIT_MS }
      const packed = deflateRawSync(JSON.stringify(sealed)).toString('base64url')
      const state = `${sign(packed)}.${packed}`
      if (state.length <= MAX_STATE) return state
      const message =
        'The run has gathered more than can be kept while a tool waits to be approved: ask for less at once'
      throw new AppError('invalid_request', message)
    },
    /** Throws AppError `invalid_request` unless sealed with this key, for this conversation, within the last day. */
    open(state: string, request: AgentRequest): PausedRun {
      const [signature = '', packed = ''] = state.split('.')
      if (!isSameSecret(signature, sign(packed))) throw refusal('is not what this server has given')
      const text = inflateRawSync(Buffer.from(packed, 'base64url')).toString()
      const { run, question, until }: Sealed = JSON.parse(text)
      if (until < Date.now()) throw refusal('has waited too long: ask again')
      if (question !== digestOf(request))
        throw refusal('belongs to other messages, or to another key')
      return run
    },
  }
}

function refusal(message: string): AppError {
  const param = 'resume.state'
  return new AppError('invalid_request', `${param}: ${message}`, { param })
}

function digestOf({ conversation: { messages }, caller }: AgentRequest): string {
  return hash('sha256', JSON.stringify(messages) + (caller?.key?.id ?? ''))
}
