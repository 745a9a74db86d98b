import { withDeadline } from '@agent-server/lib/abort.ts'
import { editDistance } from '@agent-server/lib/text/edit-distance.ts'
import { closingNotice } from './model-closings.ts'

/** How long to wait for the list: it delays the report of a failure. */
const LIST_MS = 3_000
const MAX_NAMES = 5
/** Other names are no names, and would be shown to clients. */
const NAME = /^[\w.:/@+-]{1,100}$/
/** Models of the same server for something else, unless the missing one is such a model. */
const NOT_FOR_CHAT =
  /audio|babbage|dall-e|davinci|embed|image|moderation|realtime|rerank|search|sora|transcribe|tts|whisper/i

interface OfferedModel {
  id: string
  closesOn?: string | undefined
}

/**
 * The names in a server's list that are nearest to one that it does not have, at most five, without models that are
 * closed soon; none if the list cannot be had soon. Throws only the abort reason of `signal`.
 */
export async function nearestModels(
  list: (signal: AbortSignal) => Promise<readonly OfferedModel[]>,
  missing: string,
  signal: AbortSignal,
): Promise<string[]> {
  const late = () => new Error('The list of models takes too long')
  const offer = await withDeadline(LIST_MS, list, late, signal).catch(() => [])
  signal.throwIfAborted()
  const isOther = NOT_FOR_CHAT.test(missing) ? () => false : (id: string) => NOT_FOR_CHAT.test(id)
  return offer
    .filter(
      ({ id, closesOn }) =>
        id !== missing && NAME.test(id) && !isOther(id) && !isClosing(id, closesOn),
    )
    .map(({ id }) => ({
      id,
      distance: editDistance(missing, id) / Math.max(missing.length, id.length),
    }))
    .toSorted((one, other) => one.distance - other.distance)
    .slice(0, MAX_NAMES)
    .map(({ id }) => id)
}

const isClosing = (model: string, closesOn: string | undefined) =>
  closesOn !== undefined && closingNotice({ model, setting: '', closesOn }) !== undefined

/** The addition to a failure about alternative models; empty if none is known. */
export function insteadOf(nearest: readonly string[]): string {
  return nearest.length === 0 ? '' : `. The key can use ${nearest.join(', ')}`
}
