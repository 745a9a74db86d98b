import { eachEvent } from '../../../../test/support/batches.ts'
import {
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../../../../test/support/scripted-upstream.ts'
import type { ChatModel, ModelEvent, ModelRequest, ModelToolCall } from '../../src/chat-model.ts'
import { PROTOCOLS } from '../../src/protocols.ts'
import { createUpstreamModel, type UpstreamModelOptions } from '../../src/upstream/chat.ts'

export const API_KEY = 'test-key-3f9c1d77'
export const TOOL = {
  name: 'search_documents',
  description: 'Searches the documents',
  parameters: { type: 'object', properties: { query: { type: 'string' } } },
}

export interface Answer {
  text: string
  reasoning: string
  calls: ModelToolCall[]
  finish: Extract<ModelEvent, { type: 'finish' }> | undefined
}

export interface LogEntry {
  facts: object
  message: string
}

export interface TestModel {
  upstream: ScriptedUpstream
  model: ChatModel
  logged: LogEntry[]
  /** Reads a whole answer; the rest of `request` is a plain question. */
  ask(request?: Partial<ModelRequest>, signal?: AbortSignal): Promise<Answer>
}

/** The model under test before a scripted upstream that ends with the test. */
export async function startModel(
  options: Partial<UpstreamModelOptions> = {},
  server: { keepAliveTimeout?: number } = {},
): Promise<TestModel> {
  const upstream = await startScriptedUpstream(server)
  const logged: LogEntry[] = []
  const log = (facts: object, message: string) => void logged.push({ facts, message })
  const model = createUpstreamModel(
    {
      apiKey: API_KEY,
      baseUrl: upstream.url,
      model: 'test-model',
      api: 'auto',
      idleTimeoutMs: 10_000,
      log: { warn: log },
      ...options,
    },
    PROTOCOLS,
  )
  return {
    upstream,
    model,
    logged,
    ask: async (request = {}, signal = new AbortController().signal) =>
      readAnswer(eachEvent(model.stream(question(request), signal))),
  }
}

export function question(request: Partial<ModelRequest> = {}): ModelRequest {
  const messages = [{ role: 'user' as const, content: 'When does the library open?' }]
  return { messages, tools: [], sampling: {}, chunks: [], ...request }
}

export async function readAnswer(events: AsyncIterable<ModelEvent>): Promise<Answer> {
  const answer: Answer = { text: '', reasoning: '', calls: [], finish: undefined }
  for await (const event of events) {
    if (event.type === 'text-delta') answer.text += event.text
    else if (event.type === 'reasoning-delta') answer.reasoning += event.text
    else if (event.type === 'tool-call') answer.calls.push(event.call)
    else if (event.type === 'finish') answer.finish = event
  }
  return answer
}
