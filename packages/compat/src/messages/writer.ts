import { randomUUID } from 'node:crypto'
import type { ModelToolCall, ReasoningPart } from '@agent-server/models'
import type { Hit, Usage } from '@agent-server/schemas/query.ts'
import {
  type AgentEvent,
  type AgentRequest,
  type CitationMark,
  CitationReader,
  finishOf,
  inputOf,
  isSearch,
  RunCollector,
  type RunEnd,
  textOf,
  toAgentExtra,
  tokensOf,
  toOpaque,
} from '@agent-server/wire'
import type { ContentBlock, Message, MessageEvent, TextCitation } from './schema.ts'

interface WriterOptions {
  model: string
  showsThinking: boolean
  isJsonAsked: boolean
}

type StopReason = NonNullable<Message['stop_reason']>

const STOP_REASON: Record<ReturnType<typeof finishOf>, StopReason> = {
  stop: 'end_turn',
  length: 'max_tokens',
  content_filter: 'refusal',
  tool_calls: 'tool_use',
}

function stopOf(end: RunEnd): { stop_reason: StopReason; stop_sequence: string | null } {
  const { stopSequence } = end
  const reason = STOP_REASON[finishOf(end)]
  return reason === 'end_turn' && stopSequence !== undefined
    ? { stop_reason: 'stop_sequence', stop_sequence: stopSequence }
    : { stop_reason: reason, stop_sequence: null }
}

/** Converts a run into the events of a message, and collects them into one. */
export function createMessageWriter(options: WriterOptions) {
  const { model, showsThinking, isJsonAsked } = options
  const head = {
    id: `msg_${randomUUID().replaceAll('-', '')}`,
    type: 'message' as const,
    role: 'assistant' as const,
    model,
  }
  const run = new RunCollector()
  const blocks = createBlocks(isJsonAsked, (reader) =>
    toCitations(reader.end(run.hits.length), run.hits),
  )
  let hasBegun = false
  let inputTokens = 0

  const finish = (end: RunEnd): MessageEvent[] => [
    ...blocks.close(),
    {
      type: 'message_delta',
      delta: stopOf(end),
      usage: toUsage(end.usage),
      agent: toAgentExtra(end),
    },
    { type: 'message_stop' },
  ]

  const toEvents = (event: AgentEvent): MessageEvent[] => {
    switch (event.type) {
      case 'text-delta':
      case 'approval-required':
        return blocks.addText(textOf(event))
      case 'reasoning-delta':
        return showsThinking ? blocks.addThinking(event.text) : []
      case 'client-tool-calls':
        return [...blocks.addReasoning(event.reasoning), ...event.calls.flatMap(blocks.addCall)]
      case 'retrieved':
      case 'search-step':
      case 'citations':
      case 'tool-call':
      case 'tool-progress':
      case 'tool-result':
      case 'progress':
        return []
      case 'run-end':
        return finish(event)
      default:
        return event satisfies never
    }
  }

  return {
    /** Estimates the tokens, for clients that only look at the beginning of a stream. */
    begin(request: AgentRequest): void {
      inputTokens = tokensOf(request)
    },
    /** The message begins with the first event that is more than a search: until then, a failure has a status. */
    write(events: readonly AgentEvent[]): MessageEvent[] {
      run.take(events)
      const output = events.flatMap(toEvents)
      const begins = !hasBegun && !events.every(isSearch)
      hasBegun ||= begins
      if (!begins) return output
      const usage = { ...toUsage(undefined), input_tokens: inputTokens }
      const message = { ...head, content: [], stop_reason: null, stop_sequence: null, usage }
      return [{ type: 'message_start', message }, ...output]
    },
    whole(): Message {
      const { end } = run
      return {
        ...head,
        content: blocks.content,
        ...stopOf(end),
        usage: toUsage(end.usage),
        agent: toAgentExtra(end),
      }
    },
  }
}

type OpenBlock = Extract<ContentBlock, { type: 'text' | 'thinking' }>
type Delta = Extract<MessageEvent, { type: 'content_block_delta' }>['delta']

/** The blocks of a message and their events; a text is given its citations when it ends. */
function createBlocks(
  isJsonAsked: boolean,
  citationsOf: (reader: CitationReader) => TextCitation[],
) {
  const content: ContentBlock[] = []
  let open: OpenBlock | undefined
  let reader = new CitationReader(isJsonAsked)

  const last = () => content.length - 1
  const change = (delta: Delta): MessageEvent => ({
    type: 'content_block_delta',
    index: last(),
    delta,
  })
  const start = (block: ContentBlock, initial: ContentBlock): MessageEvent => ({
    type: 'content_block_start',
    index: content.push(block) - 1,
    content_block: initial,
  })
  const stop = (): MessageEvent => ({ type: 'content_block_stop', index: last() })

  const close = (): MessageEvent[] => {
    if (!open) return []
    const citations = open.type === 'text' ? citationsOf(reader) : []
    if (open.type === 'text' && citations.length > 0) open.citations = citations
    open = undefined
    return [...citations.map((citation) => change({ type: 'citations_delta', citation })), stop()]
  }

  return {
    content,
    close,
    addText(text: string): MessageEvent[] {
      if (open?.type === 'text') {
        open.text += text
        reader.write(text)
        return [change({ type: 'text_delta', text })]
      }
      const closing = close()
      open = { type: 'text', text }
      reader = new CitationReader(isJsonAsked)
      reader.write(text)
      const opening = start(open, { type: 'text', text: '' })
      return [...closing, opening, change({ type: 'text_delta', text })]
    },
    addThinking(thinking: string): MessageEvent[] {
      if (open?.type === 'thinking') {
        open.thinking += thinking
        return [change({ type: 'thinking_delta', thinking })]
      }
      const closing = close()
      open = { type: 'thinking', thinking, signature: '' }
      const opening = start(open, { type: 'thinking', thinking: '', signature: '' })
      return [...closing, opening, change({ type: 'thinking_delta', thinking })]
    },
    /** Reasoning that goes back to the model with the results of the calls that follow. */
    addReasoning(parts: readonly ReasoningPart[] = []): MessageEvent[] {
      if (parts.length === 0) return []
      const block = { type: 'redacted_thinking' as const, data: toOpaque(parts) }
      return [...close(), start(block, block), stop()]
    },
    addCall(call: ModelToolCall): MessageEvent[] {
      const closing = close()
      const head = { type: 'tool_use' as const, id: call.callId, name: call.name }
      const input = inputOf(call)
      const opening = start({ ...head, input }, { ...head, input: {} })
      const partial_json = JSON.stringify(input)
      return [...closing, opening, change({ type: 'input_json_delta', partial_json }), stop()]
    },
  }
}

function toUsage(usage: Usage | undefined): Message['usage'] {
  const { promptTokens = 0, completionTokens = 0 } = usage ?? {}
  const { cachedTokens = 0, cacheWriteTokens = 0 } = usage ?? {}
  return {
    input_tokens: Math.max(promptTokens - cachedTokens - cacheWriteTokens, 0),
    output_tokens: completionTokens,
    cache_read_input_tokens: cachedTokens,
    cache_creation_input_tokens: cacheWriteTokens,
  }
}

/** One citation for each hit that a text cites, in the order of their first marks. */
function toCitations(marks: readonly CitationMark[], hits: readonly Hit[]): TextCitation[] {
  const numbers = new Set(marks.map(({ number }) => number))
  return [...numbers].flatMap((number) => {
    const hit = hits[number - 1]
    if (!hit) return []
    const { url = '', title, text: cited_text } = hit
    if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
      const type = 'web_search_result_location'
      return { type, cited_text, encrypted_index: '', title: title || null, url }
    }
    return {
      type: 'char_location',
      cited_text,
      document_index: number - 1,
      document_title: title || null,
      file_id: hit.documentId,
      start_char_index: hit.start,
      end_char_index: hit.end,
    }
  })
}
