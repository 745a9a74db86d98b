import type { ModelEvent, ModelToolCall, Usage } from '../chat-model.ts'
import { toFinishReason } from './finish-reason.ts'
import { isObject, type JsonObject, nonEmptyString, objectOf } from './json-value.ts'
import { createToolCallAccumulator } from './tool-call-accumulator.ts'
import { failureInStream } from './upstream-failure.ts'

/** Past this, the reasoning that goes back with the tool results is cut. */
const MAXIMUM_REASONING_CHARACTERS = 1_000_000
const MAXIMUM_REASONING_DETAILS = 64

export interface AnswerReader {
  /** Takes the next chunk and gives the text in it. Throws UpstreamFailure where it reports an error. */
  read(chunk: unknown): string
  /** True once the upstream has said why the answer ends; only the usage may still follow. */
  readonly finished: boolean
  /** What ends the answer: its tool calls, then `finish`. Throws UpstreamFailure where it is not whole. */
  ending(): ModelEvent[]
}

/** Reads the chunks of one answer, in whatever dialect of chat-completions they come. */
export function createAnswerReader(): AnswerReader {
  const toolCalls = createToolCallAccumulator()
  const reasoning = createReasoningKeeper()
  let finishReason: string | undefined
  let usage: Usage | undefined

  return {
    read(chunk) {
      const { object, choices, ...rest } = objectOf(chunk)
      if (object === 'error') throw failureInStream(chunk)
      const choice = objectOf(Array.isArray(choices) ? choices[0] : undefined)
      usage = readUsage(rest) ?? readUsage(choice) ?? usage
      finishReason = nonEmptyString(choice.finish_reason) ?? finishReason
      const delta = objectOf(choice.delta ?? choice.message)
      for (const entry of toolEntries(delta)) toolCalls.add(entry)
      reasoning.keep(delta)
      return textOf(delta)
    },
    get finished() {
      return finishReason !== undefined
    },
    ending() {
      const calls = reasoning.attach(toolCalls.calls())
      const reason = toFinishReason(finishReason ?? '', calls.length > 0)
      return [
        ...calls.map((call): ModelEvent => ({ type: 'tool-call', call })),
        { type: 'finish', reason, usage },
      ]
    },
  }
}

function toolEntries({ tool_calls, function_call }: JsonObject): unknown[] {
  if (Array.isArray(tool_calls)) return tool_calls
  // The shape before tools, which some servers still answer with.
  return isObject(function_call) ? [{ index: 0, function: function_call }] : []
}

/** The text of a delta; a list of parts may hold the model's thinking too, which is not the answer. */
function textOf({ content, refusal }: JsonObject): string {
  const parts = Array.isArray(content) ? content : []
  const texts = parts.filter(isObject).map(({ type, text }) => (type === 'text' ? text : undefined))
  return [content, ...texts, refusal].map((text) => nonEmptyString(text) ?? '').join('')
}

function readUsage({ usage, x_groq }: JsonObject): Usage | undefined {
  const counts = objectOf(usage ?? objectOf(x_groq).usage)
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = counts
  if (typeof promptTokens !== 'number') return undefined
  return {
    promptTokens,
    completionTokens: typeof completionTokens === 'number' ? completionTokens : 0,
  }
}

/**
 * Keeps what some providers refuse to do without when the tool results come: DeepSeek and its like want
 * `reasoning_content` back, OpenRouter the encrypted `reasoning_details`.
 */
function createReasoningKeeper() {
  let content = ''
  const details: unknown[] = []
  return {
    keep({ reasoning_content, reasoning_details }: JsonObject) {
      const room = MAXIMUM_REASONING_CHARACTERS - content.length
      content += (nonEmptyString(reasoning_content) ?? '').slice(0, room)
      const more = Array.isArray(reasoning_details) ? reasoning_details : []
      for (const detail of more) {
        const isKept = isObject(detail) && detail.type === 'reasoning.encrypted'
        if (isKept && details.length < MAXIMUM_REASONING_DETAILS) details.push(detail)
      }
    },
    attach(calls: ModelToolCall[]): ModelToolCall[] {
      const [first, ...others] = calls
      if (!first || (content === '' && details.length === 0)) return calls
      const kept = {
        ...(content !== '' && { reasoning_content: content }),
        ...(details.length > 0 && { reasoning_details: details }),
      }
      const extra = { ...first.extra, ...kept }
      return [{ ...first, extra }, ...others]
    },
  }
}
