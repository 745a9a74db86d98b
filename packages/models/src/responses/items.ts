import { newId } from '@agent-server/lib/new-id.ts'
import { isObject, type JsonObject, nonEmptyString, objectOf } from '@agent-server/lib/text/json.ts'
import type { ModelToolCall, ReasoningPart } from '../chat-model.ts'
import { withMoreArguments } from '../upstream/call-arguments.ts'
import { unreadable } from '../upstream/failures.ts'

/** Maximum items of an answer: calls, messages and reasoning. */
const MAX_ITEMS = 512
const MAX_ARGUMENT_CHARACTERS = 1_000_000
const KINDS: readonly unknown[] = ['function_call', 'message', 'reasoning']

interface Item {
  fields: JsonObject
  /** Its place and its identifiers, as the events told them. */
  names: Set<string>
  /** The arguments of its deltas, which may come before anything else of it. */
  written: string
}

/**
 * The items of an answer; what comes later of one adds to what came before. Servers name items differently: some give
 * several one place, some leave the place out of the deltas, some make up an identifier for each event. So an event
 * belongs to the call with its `call_id`, else to the item with its identifier, else to the newest at its place.
 */
export function createItems() {
  const items: Item[] = []
  /** The texts of parts that have ended, for servers that tell them with nothing else. */
  let texts = ''
  let parts = ''

  const find = (names: readonly string[], fields: JsonObject, among = items) => {
    const isOther = (known: Item): boolean =>
      ['type', 'call_id'].some((field) => differs(known.fields[field], fields[field]))
    const possible = among.filter((known) => !isOther(known))
    const callId = nonEmptyString(fields.call_id)
    const called = callId && possible.find((known) => known.fields.call_id === callId)
    if (called) return called
    for (const name of names) {
      const named = possible.findLast((known) => known.names.has(name))
      if (named) return named
    }
    return undefined
  }

  const begin = (): Item => {
    if (items.length === MAX_ITEMS) throw unreadable('more items than are accepted')
    const item: Item = { fields: {}, names: new Set(), written: '' }
    items.push(item)
    return item
  }

  const put = (names: readonly string[], fields: JsonObject, among = items): Item | undefined => {
    if (!KINDS.includes(fields.type)) return undefined
    const item = find(names, fields, among) ?? begin()
    for (const name of names) item.names.add(name)
    // The end of an item may leave out what its deltas have told.
    const told = Object.entries(fields).filter(([, value]) => value !== null && value !== '')
    item.fields = { ...item.fields, ...Object.fromEntries(told) }
    return item
  }

  const finish = (event: JsonObject): void => {
    const call = find(namesOf(event), CALL)
    const { arguments: whole } = event
    if (call && typeof whole === 'string') call.fields = { ...call.fields, arguments: whole }
  }

  return {
    /** Takes an event that tells something whole; some servers send no deltas. */
    note(type: string, event: JsonObject): void {
      const { item } = event
      if (isObject(item)) put(namesOf({ ...event, item_id: event.item_id ?? item.id }), item)
      if (type === 'response.output_text.done') texts += textOfPart(event)
      if (type === 'response.content_part.done') parts += textOfPart(objectOf(event.part))
      if (type === 'response.function_call_arguments.done') finish(event)
    },
    /** The text of the messages, which some servers tell with their ends alone. */
    text: () => textIn(items.map(({ fields }) => fields)) || texts || parts,
    addArguments(event: JsonObject, more: string): void {
      const names = namesOf(event)
      // Without a place, what is not known by its identifier goes on with the newest call.
      const isPlaced = typeof event.output_index === 'number'
      const newest = isPlaced
        ? undefined
        : items.findLast(({ fields }) => !differs(fields.type, CALL.type))
      const item = find(names, CALL) ?? newest ?? begin()
      for (const name of names) item.names.add(name)
      item.written = withMoreArguments(item.written, more)
      if (item.written.length > MAX_ARGUMENT_CHARACTERS) {
        throw unreadable('more tool arguments than are accepted')
      }
    },
    /** Adds what no event has told, by the list at the end of an answer: each of its items is another. */
    addAll(output: unknown): void {
      if (!Array.isArray(output)) return
      const known = new Set(items)
      for (const [output_index, fields] of output.map(objectOf).entries()) {
        const same = [...known].find((item) => isSameReasoning(item.fields, fields))
        const item = same ?? put(namesOf({ item_id: fields.id, output_index }), fields, [...known])
        if (item) known.delete(item)
      }
    },
    calls: (): ModelToolCall[] => items.filter(isCall).map(toCall),
    reasoning: (): ReasoningPart[] =>
      items.filter(({ fields }) => fields.type === 'reasoning').flatMap(toReasoning),
  }
}

const CALL: JsonObject = { type: 'function_call' }

const isCall = ({ fields }: Item) => fields.type === 'function_call'

/** Whether both are known, and are not the same. */
function differs(one: unknown, other: unknown): boolean {
  const [first, second] = [nonEmptyString(one), nonEmptyString(other)]
  return first !== undefined && second !== undefined && first !== second
}

const isSameReasoning = (one: JsonObject, other: JsonObject): boolean =>
  other.type === 'reasoning' &&
  nonEmptyString(other.encrypted_content) !== undefined &&
  one.encrypted_content === other.encrypted_content

/** What an event names its item by, the surest first. */
function namesOf({ item_id, output_index }: JsonObject): string[] {
  const id = nonEmptyString(item_id)
  const place = typeof output_index === 'number' ? output_index : undefined
  return [
    ...(id === undefined ? [] : [`item ${id}`]),
    ...(place === undefined ? [] : [`place ${place}`]),
  ]
}

function toCall({ fields, written }: Item): ModelToolCall {
  const { arguments: whole } = fields
  return {
    callId: nonEmptyString(fields.call_id) ?? nonEmptyString(fields.id) ?? newId('call'),
    name: nonEmptyString(fields.name) ?? '',
    arguments: isObject(whole) ? JSON.stringify(whole) : (nonEmptyString(whole) ?? written),
  }
}

function toReasoning({ fields }: Item): ReasoningPart[] {
  const data = nonEmptyString(fields.encrypted_content)
  if (data === undefined) return []
  const parts = Array.isArray(fields.summary) ? fields.summary.map(objectOf) : []
  const summary = parts.flatMap(({ text }) => nonEmptyString(text) ?? [])
  return [{ form: 'item', data, id: nonEmptyString(fields.id) ?? newId('rs'), summary }]
}

/** The text of the messages in a list of items. */
export function textIn(output: unknown): string {
  const items = Array.isArray(output) ? output.map(objectOf) : []
  const parts = items.flatMap(({ type, content }) =>
    type === 'message' && Array.isArray(content) ? content.map(objectOf) : [],
  )
  return parts.map(textOfPart).join('')
}

const textOfPart = ({ text, refusal }: JsonObject) =>
  nonEmptyString(text) ?? nonEmptyString(refusal) ?? ''
