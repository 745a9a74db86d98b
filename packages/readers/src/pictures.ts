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

interface FoundPicture extends PicturePlace {
  mediaType: string
  /** Its bytes as a file or, with `encode`, its pixels. */
  content: Uint8Array
  /** Makes a file of its pixels, which is never too large. */
  encode?: (() => Uint8Array) | undefined
}

/** What becomes of the pictures in a file, besides that their text is recognised. */
export interface Pictures {
  isWanted(page: number): boolean
  /** What the text says in the place of a picture: '' for nothing. */
  take(picture: FoundPicture): string
}

/** Marks each picture in the text once. Calls `onLeftOut` with the mark of one that is too large, or one too many. */
export function createPictureMarks(onLeftOut: (mark: string) => void): Pictures {
  const known = new Set<string>()
  let marked = 0
  return {
    isWanted: () => true,
    take({ content, encode, ...place }) {
      const digest = createHash('sha256').update(content).digest('base64')
      if (known.has(digest)) return ''
      known.add(digest)
      const mark = pictureMark(place)
      const isTooLarge = !encode && content.length > MAX_BYTES
      if (isTooLarge || marked >= MAX_PICTURES) {
        onLeftOut(mark)
        return ''
      }
      marked++
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

/** The pictures of an attachment, which are told from those of others by its number. */
export const picturesWithin = (pictures: Pictures, attachment: number): Pictures => ({
  isWanted: pictures.isWanted,
  take: ({ attachment: inner, ...picture }) =>
    pictures.take({
      ...picture,
      attachment: inner === undefined ? `${attachment}` : `${attachment}.${inner}`,
    }),
})
