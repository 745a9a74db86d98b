import type { JsonObject } from '@agent-server/lib/text/json.ts'
import type { ChatApi, ModelEvent, ModelRequest } from '../chat-model.ts'
import type { Abilities } from './abilities.ts'
import type { FailureFacts } from './failures.ts'
import type { ReaderOptions, TextReader } from './text-reader.ts'

/** A protocol of model servers. Each is a folder beside this one. */
export interface Protocol<Body extends object = object> {
  readonly api: ChatApi
  /** Where its requests go, after the base URL. */
  readonly path: string
  /** What stands before that, although the base URL may lack it. */
  readonly version?: string
  /** The request in the form that the server accepts. */
  toBody(model: string, request: ModelRequest, abilities: Abilities): Body
  createReader(options: ReaderOptions): AnswerReader
  /** What some servers refuse, with the change that avoids it. */
  readonly fallbacks: readonly Fallback[]
  /** The fields of the body, by path, that can be left out if the server refuses them. */
  readonly optional: ReadonlySet<string>
}

export interface AnswerReader {
  /** Reads the next event, of a long text a piece at each step. Throws UpstreamFailure if it is invalid or reports an error. */
  read(event: unknown): Iterable<ModelEvent>
  /** True once the answer is whole; only its usage may still follow. */
  readonly finished: boolean
  /** Whether it looks whole without that, if the stream has its mark of the end; some servers never give more. */
  readonly isComplete?: boolean
  /** True once nothing more follows. */
  readonly closed: boolean
  /** Tokens written per second, if the server says so. */
  readonly speed?: number | undefined
  readonly text: TextReader
  /** Whether the model's reasoning came as a summary. */
  readonly isSummary?: boolean
  /** The final events: the tool calls, then `finish`. Throws UpstreamFailure if the reason reports a failure. */
  ending(): ModelEvent[]
}

/** What to change if a server refuses a feature. */
export interface Fallback {
  /** Whether the body uses the feature. */
  concerns: (body: JsonObject) => boolean
  refusal: RegExp
  /** The change, or what tells it; undefined if the refusal teaches nothing. */
  instead?:
    | Partial<Abilities>
    | ((facts: FailureFacts, body: JsonObject) => Partial<Abilities> | undefined)
  /** A field to leave out, by path. */
  omit?: string
  /** For the log, after “refuses”. */
  report: string
}
