import { newId } from '@agent-server/lib/new-id.ts'
import { isJsonObject, isObject, nonEmptyString, parseJson } from '@agent-server/lib/text/json.ts'
import type { ModelToolCall } from '../chat-model.ts'
import { withMoreArguments } from '../upstream/call-arguments.ts'
import { unreadable } from '../upstream/failures.ts'

const MAX_CALLS = 128
const MAX_ARGUMENT_CHARACTERS = 1_000_000

interface PendingCall {
  index: number | undefined
  id: string | undefined
  name: string | undefined
  arguments: string
  extra: unknown
}

type Fragment = PendingCall

/**
 * Joins the fragments of streamed tool calls. Servers mark fragments differently: some omit `index`, some repeat it for
 * every call, some send a new id with each fragment, some send the arguments as an object. So a fragment belongs to the
 * call with its id, else to the newest call with its index, else to the newest call; and it begins a new call if it
 * names a function while that call seems complete. Calls that share an id get others.
 */
export function createToolCallAccumulator() {
  const calls: PendingCall[] = []
  const newestByIndex = new Map<number, PendingCall>()

  function find({ id, index }: Fragment): PendingCall | undefined {
    const byIndex = index === undefined ? undefined : newestByIndex.get(index)
    if (byIndex && (id === undefined || byIndex.id === id)) return byIndex
    const byId = id === undefined ? undefined : calls.findLast((call) => call.id === id)
    return byId ?? (index === undefined ? calls.at(-1) : byIndex)
  }

  function begin(fragment: Fragment): PendingCall {
    if (calls.length === MAX_CALLS) throw unreadable('more tool calls than are accepted')
    const { index } = fragment
    const call = { index, id: undefined, name: undefined, arguments: '', extra: undefined }
    calls.push(call)
    if (index !== undefined) newestByIndex.set(index, call)
    return call
  }

  return {
    /** Adds one entry of `delta.tool_calls`. Throws UpstreamFailure if a limit is exceeded. */
    add(entry: unknown) {
      const fragment = readFragment(entry)
      if (!fragment) return
      const pending = find(fragment)
      const call = pending && !beginsAnother(fragment, pending) ? pending : begin(fragment)
      call.id ??= fragment.id
      call.name ??= fragment.name
      call.arguments = withMoreArguments(call.arguments, fragment.arguments)
      call.extra ??= fragment.extra
      if (call.arguments.length > MAX_ARGUMENT_CHARACTERS)
        throw unreadable('more tool arguments than are accepted')
    },
    /** The calls so far, in the order of their beginning. */
    calls: () =>
      calls
        .filter(({ name, arguments: written }) => name || written)
        .map(toModelToolCall)
        .map((call, at, all) =>
          isFirst(call, at, all) ? call : { ...call, callId: newId('call') },
        ),
  }
}

function readFragment(entry: unknown): Fragment | undefined {
  if (!isObject(entry)) return undefined
  const details = isObject(entry.function) ? entry.function : {}
  const fragment = {
    index: typeof entry.index === 'number' ? entry.index : undefined,
    id: nonEmptyString(entry.id),
    name: nonEmptyString(details.name),
    arguments: argumentsText(details.arguments ?? details.parameters),
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
  if (fragment.id === call.id) return complete && fragment.index !== call.index
  return !(sameName && halfway)
}

const isFirst = ({ callId }: ModelToolCall, at: number, all: readonly ModelToolCall[]) =>
  all.findIndex((call) => call.callId === callId) === at

/** Some servers write the arguments as JSON within a string of JSON. */
function unquoted(written: string): string {
  const inner = written.startsWith('"') ? parseJson(written) : undefined
  return typeof inner === 'string' && isJsonObject(inner) ? inner : written
}

function toModelToolCall({ id, name, arguments: written, extra }: PendingCall): ModelToolCall {
  return {
    callId: id ?? newId('call'),
    name: name ?? '',
    arguments: unquoted(written),
    ...(isObject(extra) && { attachment: extra }),
  }
}
