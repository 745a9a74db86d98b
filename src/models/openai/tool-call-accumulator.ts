import { randomUUID } from 'node:crypto'
import type { ModelToolCall } from '../chat-model.ts'
import { isJsonObject, isObject, nonEmptyString } from './json-value.ts'
import { UpstreamFailure } from './upstream-failure.ts'

const MAXIMUM_CALLS = 128
const MAXIMUM_ARGUMENT_CHARACTERS = 1_000_000

interface PendingCall {
  id: string | undefined
  name: string | undefined
  arguments: string
  extra: unknown
}

interface Fragment extends PendingCall {
  index: number | undefined
}

export interface ToolCallAccumulator {
  /** Takes one entry of `delta.tool_calls`. Throws UpstreamFailure past the bounds. */
  add(entry: unknown): void
  /** The calls so far, in the order in which they began. */
  calls(): ModelToolCall[]
}

/**
 * Joins the fragments of streamed tool calls. Servers disagree on what marks a fragment: some leave out
 * `index`, some repeat it for every call, some send a new id with each fragment, some send the arguments
 * as an object. So a fragment belongs to the call of its id, else to the newest call of its index, else
 * to the newest call; and it begins a new call when it names a function while that call looks finished.
 */
export function createToolCallAccumulator(): ToolCallAccumulator {
  const calls: PendingCall[] = []
  const newestByIndex = new Map<number, PendingCall>()

  function find({ id, index }: Fragment): PendingCall | undefined {
    const byIndex = index === undefined ? undefined : newestByIndex.get(index)
    if (byIndex && (id === undefined || byIndex.id === id)) return byIndex
    const byId = id === undefined ? undefined : calls.findLast((call) => call.id === id)
    return byId ?? (index === undefined ? calls.at(-1) : byIndex)
  }

  function begin(fragment: Fragment): PendingCall {
    if (calls.length === MAXIMUM_CALLS) throw tooMuch('tool calls')
    const call = { id: undefined, name: undefined, arguments: '', extra: undefined }
    calls.push(call)
    if (fragment.index !== undefined) newestByIndex.set(fragment.index, call)
    return call
  }

  return {
    add(entry) {
      const fragment = readFragment(entry)
      if (!fragment) return
      const found = find(fragment)
      const call = found && !beginsAnother(fragment, found) ? found : begin(fragment)
      call.id ??= fragment.id
      call.name ??= fragment.name
      call.arguments += fragment.arguments
      call.extra ??= fragment.extra
      if (call.arguments.length > MAXIMUM_ARGUMENT_CHARACTERS) throw tooMuch('tool arguments')
    },
    calls: () =>
      calls.filter(({ name, arguments: written }) => name || written).map(toModelToolCall),
  }
}

function readFragment(entry: unknown): Fragment | undefined {
  if (!isObject(entry)) return undefined
  const details = isObject(entry.function) ? entry.function : {}
  const fragment = {
    index: typeof entry.index === 'number' ? entry.index : undefined,
    id: nonEmptyString(entry.id),
    name: nonEmptyString(details.name),
    arguments: argumentsText(details.arguments),
    extra: entry.extra_content ?? undefined,
  }
  const { index, ...content } = fragment
  const isEmpty = Object.values(content).every((value) => value === undefined || value === '')
  return isEmpty ? undefined : fragment
}

function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value
  return isObject(value) ? JSON.stringify(value) : ''
}

function beginsAnother(fragment: Fragment, call: PendingCall): boolean {
  if (fragment.name === undefined || call.name === undefined) return false
  const sameName = fragment.name === call.name
  const complete = isJsonObject(call.arguments)
  if (fragment.id === undefined || call.id === undefined) return !sameName || complete
  const halfway = call.arguments !== '' && !complete
  return fragment.id !== call.id && !(sameName && halfway)
}

function toModelToolCall({ id, name, arguments: written, extra }: PendingCall): ModelToolCall {
  return {
    callId: id ?? `call_${randomUUID()}`,
    name: name ?? '',
    arguments: written,
    ...(extra !== undefined && { extra: { extra_content: extra } }),
  }
}

function tooMuch(what: string): UpstreamFailure {
  return new UpstreamFailure({ kind: 'unreadable', words: `more ${what} than are accepted` })
}
