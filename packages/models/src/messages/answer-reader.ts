import { type JsonObject, nonEmptyString, objectOf } from '@agent-server/lib/text/json.ts'
import type { ModelUsage } from '../chat-model.ts'
import { failureInStream, unreadable } from '../upstream/failures.ts'
import { toFinishReason } from '../upstream/finish-reason.ts'
import type { AnswerReader } from '../upstream/protocol.ts'
import { createTextReader, type ReaderOptions } from '../upstream/text-reader.ts'
import { createBlocks } from './blocks.ts'

/** Reads the events of one answer. */
export function createAnswerReader({ offered, isThinkingOpen }: ReaderOptions): AnswerReader {
  const written = createTextReader({ offered, isThinkingOpen })
  const blocks = createBlocks()
  const usage = createUsage()
  let stopReason: string | undefined
  let isStopped = false
  let stopSequence: string | undefined
  const stop = ({ stop_reason: reason, stop_sequence: sequence }: JsonObject): void => {
    if (typeof reason === 'string') stopReason = reason
    stopSequence = nonEmptyString(sequence) ?? stopSequence
  }
  /** The answer of a server that does not stream. */
  const readWhole = function* ({ content, usage: counts, ...ending }: JsonObject) {
    if (!Array.isArray(content)) throw unreadable('a message without content')
    usage.add(counts)
    stop(ending)
    isStopped = true
    for (const [index, block] of content.entries()) {
      yield* written.read(blocks.begin(index, objectOf(block)))
    }
  }

  return {
    read(event) {
      const { type, index, message, content_block, delta, ...rest } = objectOf(event)
      switch (type) {
        case 'message':
          return readWhole(rest)
        case 'message_start':
          usage.add(objectOf(message).usage)
          return []
        case 'content_block_start':
          return written.read(blocks.begin(index, objectOf(content_block)))
        case 'content_block_delta':
          return written.read(blocks.add(index, objectOf(delta)))
        case 'message_delta':
          usage.add(rest.usage)
          stop(objectOf(delta))
          return []
        case 'message_stop':
          isStopped = true
          return []
        default:
          // Gateways report errors in forms of their own; other events are ignored, as the protocol asks.
          if (type === 'error' || rest.error) throw failureInStream(event)
          return []
      }
    },
    get finished() {
      return isStopped || stopReason !== undefined
    },
    get closed() {
      return isStopped
    },
    text: written,
    ending: () =>
      written.ending({
        calls: blocks.calls(),
        reasonOf: (hasCalls) => toFinishReason(stopReason ?? '', hasCalls),
        stopSequence,
        usage: usage.total(),
        reasoning: blocks.reasoning,
      }),
  }
}

const COUNTS = [
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens',
  'thinking_tokens',
] as const

/** The tokens of one answer: the counts of each event include those before it, and some events lack some. */
function createUsage() {
  const most: Partial<Record<(typeof COUNTS)[number], number>> = {}
  return {
    add(counts: unknown): void {
      const fields = objectOf(counts)
      const all: JsonObject = { ...fields, ...objectOf(fields.output_tokens_details) }
      for (const name of COUNTS) {
        const count = all[name]
        if (typeof count === 'number') most[name] = Math.max(count, most[name] ?? 0)
      }
    },
    total(): ModelUsage | undefined {
      if (most.input_tokens === undefined) return undefined
      const { cache_read_input_tokens: cached, cache_creation_input_tokens: cacheWrites } = most
      return {
        promptTokens: most.input_tokens + (cached ?? 0) + (cacheWrites ?? 0),
        completionTokens: most.output_tokens ?? 0,
        ...(cached !== undefined && { cachedTokens: cached }),
        ...(cacheWrites !== undefined && { cacheWriteTokens: cacheWrites }),
        ...(most.thinking_tokens !== undefined && { reasoningTokens: most.thinking_tokens }),
      }
    },
  }
}
