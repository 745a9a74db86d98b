import { newId } from '@agent-server/lib/new-id.ts'
import { piecesOf, SHORT_PIECE } from '@agent-server/lib/text/slices.ts'
import type {
  FinishReason,
  ModelEvent,
  ModelToolCall,
  ModelUsage,
  ReasoningPart,
} from '../chat-model.ts'
import { StopCutter, ThinkingSplitter } from './answer-text.ts'
import { whyEmpty } from './finish-reason.ts'
import { WrittenCalls } from './written-calls.ts'

export interface ReaderOptions {
  /** The names of the tools whose calls are searched for in the text; none if the answer is JSON. */
  offered: ReadonlySet<string>
  /** Whether the answer begins as reasoning without a mark; undefined if that is not known. */
  isThinkingOpen?: boolean | undefined
  /** What ends the text, for protocols that have no field for it. */
  stop?: readonly string[] | undefined
}

export type TextReader = ReturnType<typeof createTextReader>

/** What a protocol says at the end of an answer. */
interface Ending {
  /** The calls that were not written into the text. */
  calls: readonly ModelToolCall[]
  reasonOf: (hasCalls: boolean) => FinishReason
  stopSequence?: string | undefined
  usage: ModelUsage | undefined
  /** What goes back with the results of the calls. */
  reasoning: () => ReasoningPart[]
}

/**
 * Reads the text of one answer, in any protocol: takes out the reasoning and the calls that a model writes into it, and
 * ends it at a stop sequence where the protocol has none.
 */
export function createTextReader({ offered, isThinkingOpen, stop = [] }: ReaderOptions) {
  const thinking = new ThinkingSplitter({ isOpen: isThinkingOpen })
  const written = new WrittenCalls(offered)
  const cutter = new StopCutter(stop)
  let hasText = false
  let hasThought = false

  const toEvents = (thought: string, text: string): ModelEvent[] => {
    hasText ||= text !== ''
    hasThought ||= thought !== ''
    const events: ModelEvent[] = []
    if (thought !== '') events.push({ type: 'reasoning-delta', text: thought })
    if (text !== '') events.push({ type: 'text-delta', text })
    return events
  }

  const readPiece = (piece: string): ModelEvent[] => {
    const parts = thinking.write(piece)
    return toEvents(parts.reasoning, cutter.write(written.write(parts.text)))
  }

  function* readPieces(thought: string, text: string): Generator<ModelEvent> {
    yield* toEvents(thought, '')
    for (const piece of piecesOf(text, SHORT_PIECE)) yield* readPiece(piece)
  }

  return {
    /** Reads the next reasoning and text, as the protocol tells them apart; of a long text a piece at each step. */
    read({ thought = '', text = '' }: { thought?: string; text?: string }): Iterable<ModelEvent> {
      if (thought !== '') thinking.noteThinkingApart()
      // Almost all texts are short, and a generator for each would cost more than to read it.
      if (text.length > SHORT_PIECE) return readPieces(thought, text)
      const said = readPiece(text)
      return thought === '' ? said : [...toEvents(thought, ''), ...said]
    },
    /** What was held back because it might have been the beginning of something else than text. */
    rest(): ModelEvent[] {
      const parts = thinking.end()
      const text = cutter.write(written.write(parts.text) + written.end()) + cutter.end()
      return toEvents(parts.reasoning, text)
    },
    /** The final events: the tool calls, then `finish`. */
    ending({ calls: sent, reasonOf, reasoning, ...ending }: Ending): ModelEvent[] {
      const calls = [...sent, ...written.calls.map((call) => ({ callId: newId('call'), ...call }))]
      const reason = reasonOf(calls.length > 0)
      const { hasDropped } = written
      return [
        ...calls.map((call): ModelEvent => ({ type: 'tool-call', call })),
        {
          type: 'finish',
          reason,
          ...ending,
          ...(calls.length > 0
            ? { reasoning: reasoning() }
            : !hasText && { emptyBecause: whyEmpty(reason, { hasThought, hasDropped }) }),
        },
      ]
    },
    /** Whether a stop sequence has ended the text. */
    get isStopped() {
      return cutter.isCut
    },
    get hasText() {
      return hasText
    },
    get hasThought() {
      return hasThought
    },
    /** Whether the answer began as reasoning without a mark; undefined if it does not tell. */
    get wasThinkingOpen() {
      return thinking.wasOpen
    },
  }
}
