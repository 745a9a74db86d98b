import type { ChatApi, ModelRequest } from '../../../src/models/chat-model.ts'
import type { Reply } from '../../support/scripted-upstream.ts'

/**
 * The shape of something that a server of models said, written anew from a public report or taken from the server
 * itself: each must end in an answer, or in an error whose sentence says what to do.
 */
export interface Recorded {
  /** What the server does, as a fact: “vLLM refuses stream_options”. */
  name: string
  /** Where it was reported, as repository and number, or the server and version that it was taken from. */
  source: string
  /** The protocol; the model is asked in this one alone, unless `auto` is set. */
  api: ChatApi
  /** Whether the protocol may be changed, as with `CHAT_API=auto`. */
  auto?: boolean
  /** What is asked, besides a plain question. */
  request?: Partial<ModelRequest>
  /** What the server answers, in order; the last one answers all further requests. */
  replies: readonly Reply[]
  expected: Answered | Failed
}

interface Answered {
  /** The whole text. */
  text?: string
  /** The name and the arguments of each call. */
  calls?: readonly (readonly [name: string, args: string])[]
  reason?: string
  usage?: object
  /** How many requests it took; 1 if absent. */
  requests?: number
  /** What the last request had to contain, and what not, as fields by path. */
  sent?: Record<string, unknown>
}

interface Failed {
  code: string
  message: RegExp
  requests?: number
}
