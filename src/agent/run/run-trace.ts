import type { ModelRequest } from '@agent-server/models'
import type { Hit } from '@agent-server/schemas/query.ts'
import type { AgentRequest } from '@agent-server/wire'
import type { ToolCall, ToolResult } from '../tools/registry.ts'
import type { Answer } from './model-turn.ts'
import type { FinishedRun } from './run-limiter.ts'

/** Takes what happens in one run, so that its answer can be explained later. */
export interface RunTrace {
  /** Names the run in the log. */
  readonly id: string
  /** The documents were searched; the hits have the score of each stage. */
  searched(query: string, hits: readonly Hit[]): void
  /** The model is asked; the answer follows unless the call fails. */
  asked(request: ModelRequest): void
  answered(answer: Answer): void
  called(call: ToolCall, result: ToolResult, milliseconds: number): void
  /** The run is over, perhaps because of this error. */
  ended(run: FinishedRun, error: unknown): void
}

export interface RunTraces {
  begin(request: AgentRequest): RunTrace
}
