import type { ModelToolCall } from '../../models/chat-model.ts'
import type { RunFinishReason, Usage } from '../../schemas/chat.ts'
import type { Completion, CompletionChunk, UrlCitation } from '../../schemas/openai/completion.ts'
import type { Hit } from '../../schemas/query.ts'
import type { AgentEvent, RunEnd } from '../agent/agent-event.ts'
import { citationsIn } from '../agent/citation-check.ts'

/** Fields shared by all chunks of a completion. */
interface CompletionHead {
  id: string
  created: number
  model: string
}

type Choice = CompletionChunk['choices'][number]
type FinishReason = Completion['choices'][number]['finish_reason']

/** Maps the run's reason to one of the protocol's four; the original is sent in `agent`. */
export const FINISH_REASON: Record<RunFinishReason, FinishReason> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content_filter',
  tool_calls: 'tool_calls',
  round_limit: 'stop',
  call_limit: 'stop',
  time_limit: 'length',
  token_limit: 'length',
  approval_required: 'stop',
}

/** Converts batches of a run's events into chunks; puts a chunk with the role before the first one. */
export function createChunkWriter(
  head: CompletionHead,
  { includeUsage, isJsonAsked }: { includeUsage: boolean; isJsonAsked: boolean },
) {
  let hasBegun = false
  let text = ''
  const toChunks = (event: AgentEvent) => {
    text += textOf(event)
    const cited = event.type === 'run-end' ? toUrlCitations(text, event.hits, isJsonAsked) : []
    return toCompletionChunks(event, head, includeUsage, cited)
  }
  return (batch: readonly AgentEvent[]): CompletionChunk[] => {
    const chunks = batch.flatMap(toChunks)
    const begins = batch.some(({ type }) => type !== 'retrieved')
    if (!hasBegun && begins) chunks.unshift(toFirstChunk(head))
    hasBegun ||= begins
    return chunks
  }
}

/** The first chunk: clients take the role from it. */
export function toFirstChunk(head: CompletionHead): CompletionChunk {
  return toChunk(head, { delta: { role: 'assistant', content: '' } })
}

/** Converts an agent event into chunks; events of the server's own tools yield none. */
export function toCompletionChunks(
  event: AgentEvent,
  head: CompletionHead,
  includeUsage: boolean,
  annotations: UrlCitation[] = [],
): CompletionChunk[] {
  switch (event.type) {
    case 'text-delta':
    case 'approval-required':
      return [toChunk(head, { delta: { content: textOf(event) } })]
    case 'retrieved':
    case 'tool-call':
    case 'tool-result':
      return []
    case 'client-tool-calls': {
      const calls = event.calls.map((call, index) => ({ index, ...toMessageToolCall(call) }))
      return [toChunk(head, { delta: { tool_calls: calls, ...toReasoning(event.calls) } })]
    }
    case 'run-end': {
      const { reason, usage } = event
      const end = toChunk(head, {
        delta: annotations.length > 0 ? { annotations } : {},
        finish_reason: FINISH_REASON[reason],
      })
      const last = { ...end, agent: toAgentExtra(event) }
      // Clients that did not request the usage cannot handle a chunk without choices.
      if (!includeUsage || !usage) return [last]
      return [last, { ...toChunk(head), usage: toCompletionUsage(usage) }]
    }
    default:
      return event satisfies never
  }
}

export function toMessageToolCall({ callId, name, arguments: text, extra }: ModelToolCall) {
  const { extra_content } = extra ?? {}
  return {
    id: callId,
    type: 'function' as const,
    function: { name, arguments: text },
    ...(extra_content !== undefined && { extra_content }),
  }
}

/** The reasoning that the model's provider expects back with the results of the calls. */
export function toReasoning(calls: readonly ModelToolCall[]) {
  const { reasoning_content, reasoning_details } = calls[0]?.extra ?? {}
  return {
    ...(reasoning_content && { reasoning_content }),
    ...(reasoning_details && { reasoning_details }),
  }
}

function toCompletionUsage({ promptTokens, completionTokens, totalTokens }: Usage) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: totalTokens,
  }
}

function toChunk(head: CompletionHead, choice?: Partial<Choice>): CompletionChunk {
  const choices = choice
    ? [{ index: 0, delta: {}, logprobs: null, finish_reason: null, ...choice }]
    : []
  return { ...head, object: 'chat.completion.chunk', choices }
}

/** Collects a whole run into one completion. */
export async function collectCompletion(
  batches: AsyncIterable<readonly AgentEvent[]>,
  head: CompletionHead,
  isJsonAsked = false,
): Promise<Completion> {
  let content = ''
  let calls: readonly ModelToolCall[] = []
  for await (const batch of batches) {
    for (const event of batch) {
      content += textOf(event)
      if (event.type === 'client-tool-calls') calls = event.calls
      if (event.type !== 'run-end') continue
      const annotations = toUrlCitations(content, event.hits, isJsonAsked)
      return toCompletion(head, { content, calls, annotations }, event)
    }
  }
  throw new Error('An agent run ended without run-end')
}

interface Collected {
  content: string
  calls: readonly ModelToolCall[]
  annotations: UrlCitation[]
}

function toCompletion(
  head: CompletionHead,
  { content, calls, annotations }: Collected,
  end: RunEnd,
): Completion {
  const { reason, usage } = end
  const hasCalls = calls.length > 0
  return {
    ...head,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: content === '' && hasCalls ? null : content,
          refusal: null,
          ...(annotations.length > 0 && { annotations }),
          ...(hasCalls && { tool_calls: calls.map(toMessageToolCall), ...toReasoning(calls) }),
        },
        logprobs: null,
        finish_reason: FINISH_REASON[reason],
      },
    ],
    ...(usage && { usage: toCompletionUsage(usage) }),
    agent: toAgentExtra(end),
  }
}

/** The answer text of an event. Calls that wait for approval are included, for clients without that feature. */
export function textOf(event: AgentEvent): string {
  if (event.type === 'text-delta') return event.text
  if (event.type !== 'approval-required') return ''
  const lines = event.calls.map(({ tool, input }) => `- ${tool} ${JSON.stringify(input)}`)
  return `\n\nThis waits for approval:\n${lines.join('\n')}\n`
}

export function toAgentExtra(end: RunEnd) {
  return { ...toRunExtras(end), ...(end.approval && { approval: end.approval }) }
}

/** The fields that all protocols send at the end of a run; omits empty ones. */
export function toRunExtras(end: RunEnd) {
  const { hits, reason: finishReason, degraded, artifacts, limitsReached, unknownCitations } = end
  return {
    ...{ hits, finishReason },
    ...(end.searchedFor !== undefined && { searchedFor: end.searchedFor }),
    ...(limitsReached.length > 0 && { limitsReached }),
    ...(degraded && { degraded }),
    ...(unknownCitations.length > 0 && { unknownCitations }),
    ...(artifacts.length > 0 && { artifacts }),
  }
}

/** The citations of an answer in the format of chat completions; only those of documents with a web address. */
function toUrlCitations(text: string, hits: readonly Hit[], isJsonAsked: boolean): UrlCitation[] {
  return citedBy(text, hits, isJsonAsked).flatMap(({ hit, number, index }) => {
    const { url = '', title } = hit
    if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return []
    const place = { start_index: index, end_index: index + `[${number}]`.length }
    return [{ type: 'url_citation', url_citation: { ...place, url, title: title || url } }]
  })
}

/** For each citation mark in an answer, the hit that it cites and the position of the mark. */
export function citedBy(text: string, hits: readonly Hit[], isJsonAsked: boolean) {
  return citationsIn(text, hits.length, isJsonAsked).flatMap(({ number, index }) => {
    const hit = hits[number - 1]
    return hit ? [{ hit, number, index }] : []
  })
}
