import { type Extracted, ExtractionError, type ReadingWarning } from '../extracted.ts'
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

/** What holds in a group, and at its end no longer. */
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
  const fonts = createFonts()
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
    /** Adds what `text` has collected, before anything changes how it is to be read. */
    flush,
    text(bytes: Uint8Array): void {
      if (group.sink !== 'nowhere') decoder.add(bytes, group.codePage)
    },
    /** The group that is open. */
    get group() {
      return group
    },
    open(): void {
      if (groups.length >= MAX_DEPTH) {
        throw new ExtractionError('file_too_complex', 'The file is nested too deeply')
      }
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
      fonts.setDefault(codePage)
      group.codePage = codePage
    },
    /** The font that follows has this code page. */
    nameFont(codePage: number | undefined): void {
      if (group.sink === 'fonts' && codePage !== undefined) fonts.name(codePage)
    },
    useFont(font: number): void {
      if (group.sink === 'fonts') fonts.begin(font)
      else group.codePage = fonts.codePageOf(font)
    },
    setUsualFont: fonts.setUsual,
    /** Ends what only holds for some of the characters. */
    usePlain(): void {
      Object.assign(group, {
        isHidden: false,
        isDeleted: false,
        codePage: fonts.usualCodePage(),
      })
    },
    finish(): Extracted {
      flush()
      return { text: output.finish(), ...(warnings.length > 0 && { warnings }) }
    },
  }
}

/** The code pages of the fonts. */
function createFonts() {
  const known = new Map<number, number>()
  let usual = WESTERN
  let current = 0
  let usualFont = 0
  return {
    setUsual(font: number): void {
      usualFont = font
    },
    usualCodePage: () => known.get(usualFont) ?? usual,
    setDefault(codePage: number): void {
      usual = codePage
    },
    begin(font: number): void {
      current = font
    },
    name(codePage: number): void {
      if (known.size < MAX_FONTS) known.set(current, codePage)
    },
    codePageOf: (font: number) => known.get(font) ?? usual,
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
