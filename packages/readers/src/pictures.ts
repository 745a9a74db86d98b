import { createHash } from 'node:crypto'
import { type PicturePlace, pictureMark } from '@agent-server/lib/text/picture-mark.ts'

/** Pictures of one file that are described; each costs a call of the model. */
export const MAX_PICTURES = 50
/** As large as a picture in a chat may be. */
const MAX_BYTES = 7_500_000

/** A picture in a form that models take. */
export interface PictureFile {
  /** Its mark in the text. */
  mark: string
  mediaType: string
  bytes: Uint8Array
}

interface PictureContent extends PicturePlace {
  mediaType: string
  /** Its bytes as a file or, with `encode`, its pixels. */
  content: Uint8Array
  /** Makes a file of its pixels, which is never too large. */
  encode?: (() => Uint8Array) | undefined
}

/** What happens to the pictures of a file, apart from the recognition of their text. */
export interface Pictures {
  isWanted(page: number): boolean
  /** The text in place of a picture: '' for none. */
  take(picture: PictureContent): string
}

/** Marks each picture in the text once. Calls `onOmitted` with the mark of one that is too large, or one too many. */
export function createPictureMarks(onOmitted: (mark: string) => void): Pictures {
  const digests = new Set<string>()
  let count = 0
  return {
    isWanted: () => true,
    take({ content, encode, ...place }) {
      const digest = createHash('sha256').update(content).digest('base64')
      if (digests.has(digest)) return ''
      digests.add(digest)
      const mark = pictureMark(place)
      const isTooLarge = !encode && content.length > MAX_BYTES
      if (isTooLarge || count >= MAX_PICTURES) {
        onOmitted(mark)
        return ''
      }
      count++
      return mark
    },
  }
}

/** Calls `onFound` with those pictures whose marks are given. */
export function createPictureSearch(
  marks: readonly string[],
  onFound: (picture: PictureFile) => void,
): Pictures {
  const pages = new Set(marks.map((mark) => Number(/ on page (\d+)[\] ]/.exec(mark)?.[1])))
  return {
    isWanted: (page) => pages.has(page),
    take({ mediaType, content, encode, ...place }) {
      const mark = pictureMark(place)
      if (marks.includes(mark)) onFound({ mark, mediaType, bytes: encode?.() ?? content })
      return ''
    },
  }
}

/** The pictures of an attachment: its number distinguishes them from those of other attachments. */
export const picturesWithin = (pictures: Pictures, attachment: number): Pictures => ({
  isWanted: pictures.isWanted,
  take: ({ attachment: inner, ...picture }) =>
    pictures.take({
      ...picture,
      attachment: inner === undefined ? `${attachment}` : `${attachment}.${inner}`,
    }),
})
