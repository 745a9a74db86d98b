/** Where a picture stands in its file: the number is that on its page or, in a file without pages, in the file. */
export interface PicturePlace {
  number: number
  page?: number | undefined
  /** The number of the mail's attachment that holds it, after those of the mails around: `2.1`. */
  attachment?: string | undefined
}

/** What stands for a picture in the text of its document, as a paragraph and a chunk of its own. */
export const pictureMark = ({ number, page, attachment }: PicturePlace) => {
  const onPage = page === undefined ? '' : ` on page ${page}`
  const within = attachment === undefined ? '' : ` in attachment ${attachment}`
  return `[Picture ${number}${onPage}${within}]`
}

const MARK = /^\[Picture \d{1,5}(?: on page \d{1,5})?(?: in attachment [\d.]{1,99})?\]$/

export const isPictureMark = (text: string) => MARK.test(text)

/** A description of a picture as it is shown: it must not look like text of the document. */
export const describedPicture = (mark: string, description: string) =>
  `${mark.slice(0, -1)}: a model’s description, not text of the document]\n${description}`
