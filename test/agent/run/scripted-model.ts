import type {
  ChatModel,
  FinishReason,
  ModelEvent,
  ModelRequest,
  ModelToolCall,
  ModelUsage,
} from '@agent-server/models'
import { inBatches } from '../../support/batches.ts'

/** One answer: its events, or what makes them of the request. */
export type ScriptedAnswer =
  | readonly ModelEvent[]
  | ((request: ModelRequest, signal: AbortSignal) => AsyncGenerator<ModelEvent>)

export interface ScriptedModel extends ChatModel {
  /** Every request so far, as it was when it came. */
  readonly requests: readonly ModelRequest[]
}

/** A chat model that plays what a test scripts, one answer per call, and fails where none is left. */
export function createScriptedModel(
  answers: readonly ScriptedAnswer[],
  supportsTools = true,
): ScriptedModel {
  const requests: ModelRequest[] = []

  return {
    name: 'scripted',
    generates: true,
    supportsTools,
    supportsImages: true,
    window: undefined,
    speed: undefined,
    learnWindow: async () => undefined,
    requests,
    async *stream(request, signal) {
      signal.throwIfAborted()
      const answer = answers[requests.length]
      requests.push(structuredClone(request))
      if (!answer) throw new Error(`No answer is scripted for call ${requests.length}`)
      yield* inBatches(typeof answer === 'function' ? answer(request, signal) : answer)
    },
  }
}

/** An answer of text, one event per given fragment. */
export function says(...fragments: string[]): ModelEvent[] {
  return [...fragments.map(toDelta), finish('stop')]
}

/** An answer of tool calls. */
export function asks(...calls: ModelToolCall[]): ModelEvent[] {
  return [...calls.map((call): ModelEvent => ({ type: 'tool-call', call })), finish('tool_calls')]
}

export function toDelta(text: string): ModelEvent {
  return { type: 'text-delta', text }
}

export function finish(reason: FinishReason, usage?: ModelUsage): ModelEvent {
  return { type: 'finish', reason, usage }
}

/** A tool call; an object is written as JSON, a string stands as it is. */
export function toolCall(name: string, input: object | string = {}, callId = `call_${name}`) {
  return { callId, name, arguments: typeof input === 'string' ? input : JSON.stringify(input) }
}
