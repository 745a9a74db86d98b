import type { ModelMessage } from '@agent-server/models'

/** Also bounds what a run that waits for approval keeps: in base64, all of them are 11 MB. */
const MAX_IMAGE_BYTES = 2_000_000
/** The newest ones of a run, which models are sent again with each call. */
const MAX_IMAGES = 4
/** What models read, by how a file begins: one that is not what its server says would fail the whole answer. */
const BEGINNINGS = [
  ['image/png', '89504e470d0a1a0a'],
  ['image/jpeg', 'ffd8ff'],
  ['image/gif', '47494638'],
] as const

export interface ShownImage {
  /** A data URL. */
  url: string
}

/** A picture as the model is sent it; undefined if it is too large, or of a kind that not every model reads. */
export function toShownImage(bytes: Uint8Array): ShownImage | undefined {
  if (bytes.byteLength > MAX_IMAGE_BYTES) return undefined
  const begins = Buffer.from(bytes.subarray(0, 8)).toString('hex')
  const [type] = BEGINNINGS.find(([, beginning]) => begins.startsWith(beginning)) ?? []
  return type && { url: `data:${type};base64,${Buffer.from(bytes).toString('base64')}` }
}

export const newestImages = (images: readonly ShownImage[]) => images.slice(-MAX_IMAGES)

/** Adds the pictures of a round to the conversation of a run, in which a note takes the place of older ones. */
export function showImages(added: ModelMessage[], images: readonly ShownImage[]): void {
  if (images.length === 0) return
  let room = MAX_IMAGES - images.length
  for (const [at, message] of [...added.entries()].toReversed()) {
    if (message.role !== 'user' || !message.images) continue
    room -= message.images.length
    if (room < 0) added[at] = { role: 'user', content: 'These images are not shown any more.' }
  }
  const marks = images.map(() => '[image]').join(' ')
  added.push({ role: 'user', content: `Images in the results of the tools: ${marks}`, images })
}
