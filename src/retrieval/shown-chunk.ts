import { describedPicture, isPictureMark } from '@agent-server/lib/text/picture-mark.ts'
import type { StoredChunk } from '@agent-server/stores'

/** A chunk as people and models get it. */
export interface ShownChunk extends StoredChunk {
  /** Present if `text` is a description by a model of the picture that stands there. */
  pictureDescription?: true
}

export function withShownText(chunk: StoredChunk): ShownChunk {
  const { text, context } = chunk
  if (context === undefined || !isPictureMark(text)) return chunk
  return { ...chunk, text: describedPicture(text, context), pictureDescription: true }
}
