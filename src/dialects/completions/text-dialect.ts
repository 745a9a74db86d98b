import { randomUUID } from 'node:crypto'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import {
  type AgentEvent,
  type AgentRequest,
  type Dialect,
  type DialectSettings,
  finishOf,
  RunCollector,
  readAgentFields,
  textOf,
  toAgentExtra,
  toSampling,
} from '@agent-server/wire'
import { COMPLETION_FORMAT } from './dialect.ts'
import type { TextCompletion, TextCompletionRequest } from './text-schema.ts'
import { toCompletionUsage } from './writer.ts'

/** OpenAI's completions of a text, which came before those of a chat. */
export function createTextCompletionsDialect(
  settings: DialectSettings,
): Dialect<TextCompletionRequest, TextCompletion, TextCompletion> {
  return {
    read(body, caller) {
      const request = toAgentRequest(body, caller, settings)
      const head = {
        id: `cmpl-${randomUUID()}`,
        object: 'text_completion' as const,
        created: Math.floor(Date.now() / 1_000),
        model: request.agent ?? settings.modelName,
      }
      const writer = createWriter(head, body.stream_options?.include_usage ?? false)
      return { request, ...writer }
    },
    ...COMPLETION_FORMAT,
  }
}

function toAgentRequest(
  request: TextCompletionRequest,
  caller: Caller,
  settings: DialectSettings,
): AgentRequest {
  const content = [request.prompt].flat().join()
  return {
    ...readAgentFields(request, settings),
    caller,
    messages: [{ role: 'user', content }],
    instructions: [],
    sampling: { ...toSampling(request), maxTokens: request.max_tokens ?? undefined },
    clientTools: [],
  }
}

type Head = Pick<TextCompletion, 'id' | 'object' | 'created' | 'model'>
type FinishReason = TextCompletion['choices'][number]['finish_reason']

function createWriter(head: Head, includeUsage: boolean) {
  const run = new RunCollector()
  const toCompletion = (text: string, finish_reason: FinishReason = null): TextCompletion => ({
    ...head,
    choices: [{ index: 0, text, logprobs: null, finish_reason }],
  })
  const toChunks = (event: AgentEvent): TextCompletion[] => {
    if (event.type !== 'run-end') {
      const text = textOf(event)
      return text === '' ? [] : [toCompletion(text)]
    }
    const last = { ...toCompletion('', finishOf(event)), agent: toAgentExtra(event) }
    if (!includeUsage || !event.usage) return [last]
    return [last, { ...head, choices: [], usage: toCompletionUsage(event.usage) }]
  }
  return {
    write(events: readonly AgentEvent[]): TextCompletion[] {
      run.take(events)
      return events.flatMap(toChunks)
    },
    whole(): TextCompletion {
      const { textWithApproval: text, end } = run
      return {
        ...toCompletion(text, finishOf(end)),
        ...(end.usage && { usage: toCompletionUsage(end.usage) }),
        agent: toAgentExtra(end),
      }
    },
  }
}
