import type { ModelToolCall } from '@agent-server/models'
import type { Usage } from '@agent-server/schemas/query.ts'
import {
  type AgentEvent,
  addressOf,
  citedBy,
  finishOf,
  isSearch,
  RunCollector,
  type RunEnd,
  textOf,
  toAgentExtra,
  toReasoningFields,
} from '@agent-server/wire'
import type { Completion, CompletionChunk, UrlCitation } from './answer-schema.ts'

/** Fields shared by all chunks of a completion. */
interface CompletionHead {
  id: string
  created: number
  model: string
}

interface WriterOptions {
  includeUsage: boolean
  /** Where documents can be opened, if that is known. */
  origin?: string | undefined
}

type Choice = CompletionChunk['choices'][number]

/** Converts a run into the chunks of a completion, and collects them into one. */
export function createCompletionWriter(
  head: CompletionHead,
  { includeUsage, origin }: WriterOptions,
) {
  const run = new RunCollector()
  let hasBegun = false

  const toChunks = (event: AgentEvent): CompletionChunk[] => {
    switch (event.type) {
      case 'text-delta':
      case 'approval-required':
        return [toChunk(head, { delta: { content: textOf(event) } })]
      case 'retrieved':
      case 'search-step':
      case 'citations':
      case 'tool-call':
      case 'tool-progress':
      case 'tool-result':
      case 'progress':
        return []
      case 'reasoning-delta':
        return [toChunk(head, { delta: { reasoning_content: event.text } })]
      case 'client-tool-calls': {
        const { calls, reasoning } = event
        const tool_calls = calls.map((call, index) => ({ index, ...toMessageToolCall(call) }))
        const { reasoning_content, ...fields } = toReasoningFields(reasoning)
        // Clients join the pieces: what was streamed must not come again.
        const unsaid = run.thinking === '' && reasoning_content && { reasoning_content }
        return [toChunk(head, { delta: { tool_calls, ...fields, ...unsaid } })]
      }
      case 'run-end':
        return toLastChunks(event)
      default:
        return event satisfies never
    }
  }

  const toLastChunks = (end: RunEnd): CompletionChunk[] => {
    const annotations = toUrlCitations(end, origin)
    const last = toChunk(head, {
      delta: annotations.length > 0 ? { annotations } : {},
      finish_reason: finishOf(end),
    })
    const chunks = [{ ...last, agent: toAgentExtra(end) }]
    // Clients that did not request the usage cannot handle a chunk without choices.
    if (!includeUsage || !end.usage) return chunks
    return [...chunks, { ...toChunk(head), usage: toCompletionUsage(end.usage) }]
  }

  return {
    /** Clients take the role from the first chunk, so one with it comes before the others. */
    write(events: readonly AgentEvent[]): CompletionChunk[] {
      run.take(events)
      const chunks = events.flatMap(toChunks)
      const begins = !hasBegun && !events.every(isSearch)
      hasBegun ||= begins
      return begins
        ? [toChunk(head, { delta: { role: 'assistant', content: '' } }), ...chunks]
        : chunks
    },
    whole(): Completion {
      const { textWithApproval: text, calls, reasoning, thinking, end } = run
      const annotations = toUrlCitations(end, origin)
      const hasCalls = calls.length > 0
      return {
        ...head,
        object: 'chat.completion',
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: text === '' && hasCalls ? null : text,
              refusal: null,
              ...(annotations.length > 0 && { annotations }),
              ...(thinking !== '' && { reasoning_content: thinking }),
              ...(hasCalls && {
                tool_calls: calls.map(toMessageToolCall),
                ...toReasoningFields(reasoning),
              }),
            },
            logprobs: null,
            finish_reason: finishOf(end),
          },
        ],
        ...(end.usage && { usage: toCompletionUsage(end.usage) }),
        agent: toAgentExtra(end),
      }
    },
  }
}

export function toMessageToolCall({ callId, name, arguments: text, attachment }: ModelToolCall) {
  return {
    id: callId,
    type: 'function' as const,
    function: { name, arguments: text },
    ...(attachment && { extra_content: attachment }),
  }
}

export function toCompletionUsage(usage: Usage) {
  const { cachedTokens, cacheWriteTokens, reasoningTokens } = usage
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.totalTokens,
    ...((cachedTokens !== undefined || cacheWriteTokens !== undefined) && {
      prompt_tokens_details: {
        cached_tokens: cachedTokens ?? 0,
        ...(cacheWriteTokens !== undefined && { cache_write_tokens: cacheWriteTokens }),
      },
    }),
    ...(reasoningTokens !== undefined && {
      completion_tokens_details: { reasoning_tokens: reasoningTokens },
    }),
  }
}

function toChunk(head: CompletionHead, choice?: Partial<Choice>): CompletionChunk {
  const choices = choice
    ? [{ index: 0, delta: {}, logprobs: null, finish_reason: null, ...choice }]
    : []
  return { ...head, object: 'chat.completion.chunk', choices }
}

/** The citations of an answer in the format of chat completions; only those that can be opened. */
function toUrlCitations(end: RunEnd, origin: string | undefined): UrlCitation[] {
  return citedBy(end).flatMap(({ hit, number, at }) => {
    const { title } = hit
    const url = addressOf(hit, origin)
    if (url === undefined) return []
    const place = { start_index: at, end_index: at + `[${number}]`.length }
    return [{ type: 'url_citation', url_citation: { ...place, url, title: title || url } }]
  })
}
