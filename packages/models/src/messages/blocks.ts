import { newId } from '@agent-server/lib/new-id.ts'
import { isObject, type JsonObject, nonEmptyString } from '@agent-server/lib/text/json.ts'
import type { ModelToolCall, ReasoningPart } from '../chat-model.ts'
import { withMoreArguments } from '../upstream/call-arguments.ts'
import { unreadable } from '../upstream/failures.ts'

const MAX_BLOCKS = 1_024
const MAX_CALLS = 128
const MAX_ARGUMENT_CHARACTERS = 1_000_000
/** Limit beyond which no more reasoning is sent back with the tool results. */
const MAX_REASONING_CHARACTERS = 1_000_000

type Block =
  | { type: 'text' }
  | { type: 'thinking'; text: string; signature: string }
  | { type: 'redacted'; data: string }
  | { type: 'call'; id: string; name: string; whole: string; written: string }
  /** A kind of block that is not requested. */
  | { type: 'other' }

interface Delta {
  text?: string
  thought?: string
}

/** Joins the content blocks of an answer from their beginnings and deltas. */
export function createBlocks() {
  const blocks: Block[] = []
  const byIndex = new Map<unknown, Block>()

  const open = (index: unknown, block: Block): void => {
    if (blocks.length === MAX_BLOCKS) throw unreadable('more content than is accepted')
    if (block.type === 'call' && blocks.filter(isCall).length === MAX_CALLS) {
      throw unreadable('more tool calls than are accepted')
    }
    blocks.push(block)
    byIndex.set(index, block)
  }
  /** The block of a delta; some servers leave out the index. */
  const blockAt = <Type extends Block['type']>(index: unknown, type: Type) => {
    const isOfType = (block: Block): block is Extract<Block, { type: Type }> => block.type === type
    const block = byIndex.get(index)
    return block && isOfType(block) ? block : blocks.findLast(isOfType)
  }
  /** The same; some servers leave out its beginning. */
  const thinkingAt = (index: unknown) => {
    const thinking = blockAt(index, 'thinking')
    if (thinking) return thinking
    const block = { type: 'thinking' as const, text: '', signature: '' }
    open(index, block)
    return block
  }

  return {
    begin(index: unknown, block: JsonObject): Delta {
      open(index, beginningOf(block))
      return deltaIn(block)
    },
    add(index: unknown, delta: JsonObject): Delta {
      if (delta.type === 'thinking_delta' || delta.type === 'signature_delta') {
        const block = thinkingAt(index)
        block.text += stringOf(delta.thinking)
        block.signature += stringOf(delta.signature)
      }
      const call = delta.type === 'input_json_delta' && blockAt(index, 'call')
      if (call) addArguments(call, jsonTextOf(delta.partial_json))
      return deltaIn(delta)
    },
    calls: (): ModelToolCall[] => blocks.filter(isCall).map(toModelToolCall),
    /** What goes back with the results of the calls, unchanged: as much as there is room for. */
    reasoning(): ReasoningPart[] {
      let room = MAX_REASONING_CHARACTERS
      return blocks.flatMap((block) => {
        const part = toReasoningPart(block)
        room -= JSON.stringify(part ?? '').length
        return part && room >= 0 ? [part] : []
      })
    },
  }
}

function beginningOf({ type, id, name, input, data, thinking, signature }: JsonObject): Block {
  switch (type) {
    case 'text':
      return { type: 'text' }
    case 'thinking':
      return { type: 'thinking', text: stringOf(thinking), signature: stringOf(signature) }
    case 'redacted_thinking':
      return { type: 'redacted', data: stringOf(data) }
    case 'tool_use':
      return {
        type: 'call',
        id: nonEmptyString(id) ?? newId('toolu'),
        name: stringOf(name),
        whole: isObject(input) ? JSON.stringify(input) : stringOf(input),
        written: '',
      }
    default:
      return { type: 'other' }
  }
}

/** The text and the thinking that a block begins with, or a delta adds. */
function deltaIn({ type, text, thinking }: JsonObject): Delta {
  if (type === 'text' || type === 'text_delta') return { text: stringOf(text) }
  if (type === 'thinking' || type === 'thinking_delta') return { thought: stringOf(thinking) }
  return {}
}

type Call = Extract<Block, { type: 'call' }>

const isCall = (block: Block): block is Call => block.type === 'call'

/** Some servers send the whole input as an object. */
const jsonTextOf = (part: unknown) => (isObject(part) ? JSON.stringify(part) : stringOf(part))

function addArguments(call: Call, more: string): void {
  call.written = withMoreArguments(call.written, more)
  if (call.written.length > MAX_ARGUMENT_CHARACTERS) {
    throw unreadable('more tool arguments than are accepted')
  }
}

/** The input streams, unless a server sends it with the beginning. */
function toModelToolCall({ id, name, whole, written }: Call): ModelToolCall {
  return { callId: id, name, arguments: written || whole || '{}' }
}

function toReasoningPart(block: Block): ReasoningPart | undefined {
  if (block.type === 'redacted') return { form: 'block', signature: block.data }
  if (block.type !== 'thinking' || (block.text === '' && block.signature === '')) return undefined
  return { form: 'block', text: block.text, signature: block.signature }
}

const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '')
