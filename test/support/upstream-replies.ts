import { readFileSync } from 'node:fs'
import type { ChatCompletionChunk } from 'openai/resources/chat/completions'
import type { PartsOf } from './parts-of.ts'
import type { RecordedRequest, Reply, Script, Step } from './scripted-upstream.ts'

export interface ReplyUsage {
  prompt_tokens: number
  completion_tokens: number
  prompt_tokens_details?: Record<string, number>
  completion_tokens_details?: Record<string, number>
}

export interface ReplyOptions {
  finishReason?: string
  /** Sent when the request asks for it, as OpenAI does. */
  usage?: ReplyUsage
}

export interface ReplyToolCall {
  name: string
  /** An object is sent as JSON; a string as it is, broken or not. */
  arguments: object | string
  id?: string
  extra_content?: unknown
}

const USAGE: ReplyUsage = { prompt_tokens: 11, completion_tokens: 7 }
const SSE = { 'content-type': 'text/event-stream; charset=utf-8' }

export const DONE: Step = { send: 'data: [DONE]\n\n' }

type Delta = PartsOf<ChatCompletionChunk.Choice.Delta>
type Call = PartsOf<ChatCompletionChunk.Choice.Delta.ToolCall>

/** One `chat.completion.chunk` as a step. */
export function chunk(
  delta: object,
  finishReason: string | null = null,
  extra: object = {},
): Step & { send: string } {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }]
  return event({ ...envelope(), choices, ...extra })
}

/** Any JSON as one SSE event. */
export function event(data: unknown): Step & { send: string } {
  return { send: `data: ${JSON.stringify(data)}\n\n` }
}

/** An answer of text, one word per chunk. */
export function textReply(
  answer: string,
  { finishReason = 'stop', usage = USAGE }: ReplyOptions = {},
): Script {
  const words = answer.split(/(?<=\s)(?=\S)/u)
  return (request) => ({
    steps: [
      chunk({ role: 'assistant', content: '' } satisfies Delta),
      ...words.map((word) => chunk({ content: word } satisfies Delta)),
      chunk({}, finishReason),
      ...usageSteps(request, usage),
      DONE,
    ],
  })
}

/** An answer of tool calls, their arguments in small fragments, after optional `text`. */
export function toolCallReply(
  calls: ReplyToolCall | readonly ReplyToolCall[],
  { text, finishReason = 'tool_calls', usage = USAGE }: ReplyOptions & { text?: string } = {},
): Script {
  const list = [calls].flat()
  return (request) => ({
    steps: [
      chunk({ role: 'assistant', content: text ?? null } satisfies Delta),
      ...list.flatMap(toolCallSteps),
      chunk({}, finishReason),
      ...usageSteps(request, usage),
      DONE,
    ],
  })
}

/** A refusal in the shape of OpenAI; `error` is the inner object or its message. */
export function errorReply(
  status: number,
  error: object | string = {},
  headers: Record<string, string> = {},
): Reply {
  const inner = typeof error === 'string' ? { message: error, type: 'test', code: null } : error
  return jsonReply({ error: inner }, status, headers)
}

/** A JSON body that is not a stream. */
export function jsonReply(
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): Reply {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    steps: [{ send: JSON.stringify(body) }],
  }
}

/** Bytes exactly as given. */
export function rawReply(body: string | Uint8Array, contentType = SSE['content-type']): Reply {
  return { headers: { 'content-type': contentType }, steps: [{ send: body }] }
}

/** A web page, as a wrong base URL or a failing gateway answers. */
export function webPageReply(status = 200): Reply {
  const page = '<!doctype html><html><head><title>Welcome</title></head><body>Hello</body></html>'
  return { status, headers: { 'content-type': 'text/html' }, steps: [{ send: page }] }
}

/** A stream of exactly these steps; without `DONE` it ends early. */
export function streamReply(...steps: Step[]): Reply {
  return { steps }
}

/** Accepts the request and never answers. */
export function hangReply(): Reply {
  return { steps: [{ hang: true }] }
}

/** Accepts the request and destroys the socket without a word. */
export function cutReply(): Reply {
  return { steps: [{ cut: true }] }
}

/** A stream kept in test/fixtures/streams, byte for byte. */
export function fixtureReply(name: string): Reply {
  return rawReply(readFileSync(new URL(`../fixtures/streams/${name}.sse`, import.meta.url)))
}

function toolCallSteps(call: ReplyToolCall, index: number): Step[] {
  const { name, id = `call_${index + 1}`, extra_content } = call
  const written =
    typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
  const head = { index, id, type: 'function', function: { name, arguments: '' } } satisfies Call
  return [
    chunk({ tool_calls: [{ ...head, ...(extra_content !== undefined && { extra_content }) }] }),
    ...fragments(written).map((part) =>
      chunk({ tool_calls: [{ index, function: { arguments: part } }] } satisfies Delta),
    ),
  ]
}

function fragments(written: string): string[] {
  return written.match(/[\s\S]{1,8}/gu) ?? []
}

function usageSteps({ body }: RecordedRequest, usage: ReplyUsage): Step[] {
  if (!asksForUsage(body)) return []
  const total_tokens = usage.prompt_tokens + usage.completion_tokens
  return [event({ ...envelope(), choices: [], usage: { ...usage, total_tokens } })]
}

function asksForUsage(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || !('stream_options' in body)) return false
  return JSON.stringify(body.stream_options) === '{"include_usage":true}'
}

function envelope() {
  return {
    id: 'chatcmpl-scripted',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'scripted',
  } satisfies PartsOf<ChatCompletionChunk>
}
