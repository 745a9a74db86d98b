import { type Extracted, nestedTooDeeply, type ReadingWarning } from '../extracted.ts'
import { createDecoder, WESTERN } from './rtf-code-pages.ts'
import { createRtfText, type ParagraphFormat } from './rtf-text.ts'

/** Real files nest up to a few dozen groups. */
const MAX_DEPTH = 1_000
const MAX_FONTS = 10_000
/** UTF-16 code units. */
const MAX_COMMENT = 2_000
const MAX_AUTHOR = 100

/** Where the text of a group goes. */
type Sink = 'text' | 'marker' | 'author' | 'fonts' | 'nowhere'

/** A footnote or a comment, within a sentence. */
interface Aside {
  end: string
  isEmpty: boolean
  /** UTF-16 code units that it may still have. */
  room: number
}

/** The state of a group, which ends with it. */
interface Group extends ParagraphFormat {
  sink: Sink
  /** Hidden, or deleted while changes were tracked. */
  isHidden: boolean
  isDeleted: boolean
  codePage: number
  /** How many characters behind a Unicode character repeat it for old programs. */
  repeats: number
  aside: Aside | undefined
}

const newGroup = (): Group => ({
  sink: 'nowhere',
  isHidden: false,
  isDeleted: false,
  codePage: WESTERN,
  repeats: 1,
  aside: undefined,
  isInTable: false,
  heading: undefined,
})

export type RtfDocument = ReturnType<typeof createRtfDocument>

/** The groups, fonts and text of rich text as it is read. */
export function createRtfDocument() {
  const output = createRtfText()
  const warnings: ReadingWarning[] = []
  const decoder = createDecoder((codePage) => warnings.push(unknownCodePage(codePage)))
  const codePages = new Map<number, number>()
  const fonts = { current: 0, usual: 0, usualCodePage: WESTERN }
  const codePageOf = (font: number) => codePages.get(font) ?? fonts.usualCodePage
  const groups: Group[] = []
  let group = newGroup()
  let author = ''

  const add = (text: string) => {
    if (group.isHidden || group.isDeleted) return
    if (group.sink === 'marker') output.mark(text)
    else if (group.sink === 'author') author = `${author}${text}`.slice(0, MAX_AUTHOR)
    else if (group.sink === 'text') output.add(fitting(text, group.aside))
  }
  const flush = () => add(decoder.take())
  const beginAside = (begin: string, end: string, room: number) => {
    if (group.sink !== 'text') return
    output.add(begin)
    group.aside = { end, isEmpty: true, room }
  }

  return {
    add,
    /** Adds what `text` has collected, before anything changes how that is read. */
    flush,
    text(bytes: Uint8Array): void {
      if (group.sink !== 'nowhere') decoder.add(bytes, group.codePage)
    },
    /** The group that is open. */
    get group() {
      return group
    },
    open(): void {
      if (groups.length >= MAX_DEPTH) throw nestedTooDeeply()
      groups.push(group)
      group = { ...group }
    },
    close(): void {
      const { aside } = group
      group = groups.pop() ?? newGroup()
      if (aside && aside !== group.aside) output.add(aside.end)
    },
    sinkInto(sink: Sink): void {
      if (group.sink !== 'nowhere') group.sink = sink
      if (group.sink === 'author') author = ''
    },
    breakParagraph(): void {
      if (group.sink !== 'text') return
      if (group.aside) add(' ')
      else output.endParagraph(group)
    },
    endCell: () => group.sink === 'text' && output.endCell(),
    endRow: () => group.sink === 'text' && output.endRow(),
    beginNote: () => beginAside(' (', ')', Number.POSITIVE_INFINITY),
    beginComment: () => beginAside(` [Comment${author && ` by ${author}`}: `, ']', MAX_COMMENT),
    setCodePage(codePage: number): void {
      fonts.usualCodePage = codePage
      group.codePage = codePage
    },
    /** The font that follows has this code page. */
    nameFont(codePage: number | undefined): void {
      const isKept = codePages.size < MAX_FONTS && group.sink === 'fonts'
      if (isKept && codePage !== undefined) codePages.set(fonts.current, codePage)
    },
    useFont(font: number): void {
      if (group.sink === 'fonts') fonts.current = font
      else group.codePage = codePageOf(font)
    },
    setUsualFont(font: number): void {
      fonts.usual = font
    },
    /** Resets the formatting of characters. */
    usePlain(): void {
      const codePage = codePageOf(fonts.usual)
      Object.assign(group, { isHidden: false, isDeleted: false, codePage })
    },
    finish(): Extracted {
      flush()
      return { text: output.finish(), ...(warnings.length > 0 && { warnings }) }
    },
  }
}

/** The part of a text that an aside has room for, without blanks at its beginning; where it is cut off, `…` says so. */
function fitting(text: string, aside: Aside | undefined): string {
  if (!aside) return text
  const words = aside.isEmpty ? text.trimStart() : text
  const { room } = aside
  aside.isEmpty &&= words === ''
  aside.room = Math.max(room - words.length, 0)
  if (words.length <= room) return words
  return room > 0 ? `${words.slice(0, room)}…` : ''
}

const unknownCodePage = (codePage: number): ReadingWarning => ({
  code: 'uncertain_encoding',
  message: `Code page ${codePage} was read as windows-1252; if letters are wrong, save the file as DOCX and send it again`,
})
