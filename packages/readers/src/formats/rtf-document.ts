import { type Extracted, nestedTooDeeply, type ReadingWarning } from '../extracted.ts'
import { struck } from '../marks.ts'
import {
  addEntry,
  beginEntry,
  createFurniture,
  type FormField,
  newForm,
  resultOf,
} from './rtf-asides.ts'
import { createDecoder, createFonts, WESTERN } from './rtf-code-pages.ts'
import { createRtfText, type ParagraphFormat } from './rtf-text.ts'

/** Real files nest up to a few dozen groups. */
const MAX_DEPTH = 1_000
/** UTF-16 code units. */
const MAX_COMMENT = 2_000
const MAX_AUTHOR = 100

/** Where the text of a group goes. */
type Sink = 'text' | 'marker' | 'author' | 'fonts' | 'header' | 'footer' | 'choice' | 'nowhere'

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
  /** What marks text above or below the line. */
  script: ((text: string) => string) | undefined
  isStruck: boolean
  /** The field of a form whose properties are in the group. */
  form: FormField | undefined
}

const newGroup = (): Group => ({
  sink: 'nowhere',
  isHidden: false,
  isDeleted: false,
  codePage: WESTERN,
  repeats: 1,
  aside: undefined,
  script: undefined,
  isStruck: false,
  form: undefined,
  isInTable: false,
  heading: undefined,
})

const PLAIN = { isHidden: false, isDeleted: false, isStruck: false, script: undefined }

function marked(words: string, { script, isStruck }: Group): string {
  const scripted = script?.(words) ?? words
  return isStruck ? struck(scripted) : scripted
}

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
  const furniture = createFurniture()
  const addWords = (text: string) => {
    const words = fitting(text, group.aside)
    output.add(words === '' ? '' : marked(words, group))
  }
  const sinks: Partial<Record<Sink, (text: string) => void>> = {
    text: addWords,
    marker: output.mark,
    author: (text) => (author = `${author}${text}`.slice(0, MAX_AUTHOR)),
    header: (text) => furniture.add('header', text),
    footer: (text) => furniture.add('footer', text),
    choice: (text) => addEntry(group.form, text),
  }
  const add = (text: string) => {
    if (!group.isHidden && !group.isDeleted) sinks[group.sink]?.(text)
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
      const { aside, form } = group
      group = groups.pop() ?? newGroup()
      if (aside && aside !== group.aside) output.add(aside.end)
      // It is within the instructions of a field, of which nothing else is text.
      if (form && form !== group.form) output.add(resultOf(form))
    },
    sinkInto(sink: Sink): void {
      if (group.sink !== 'nowhere') group.sink = sink
      if (group.sink === 'author') author = ''
    },
    breakParagraph(): void {
      if (group.sink === 'header' || group.sink === 'footer') furniture.add(group.sink, '\n')
      if (group.sink !== 'text') return
      if (group.aside) add(' ')
      else output.endParagraph(group)
    },
    /** Calls `write` unless what is read is not the text itself. */
    inText: (write: (text: typeof output) => void) => group.sink === 'text' && write(output),
    beginForm(): void {
      group.sink = 'nowhere'
      group.form = newForm()
    },
    beginEntry: () => beginEntry(group.form) && Object.assign(group, { sink: 'choice' }),
    beginNote: () => beginAside(' (', ')', Number.POSITIVE_INFINITY),
    beginComment: () => beginAside(` [Comment${author && ` by ${author}`}: `, ']', MAX_COMMENT),
    setCodePage: (codePage: number) => {
      fonts.usualCodePage = codePage
      group.codePage = codePage
    },
    /** The font that follows has this code page. */
    nameFont(codePage: number | undefined): void {
      if (group.sink === 'fonts') fonts.name(codePage)
    },
    useFont: (font: number) =>
      group.sink === 'fonts'
        ? Object.assign(fonts, { current: font })
        : Object.assign(group, { codePage: fonts.codePageOf(font) }),
    setUsualFont: (font: number) => Object.assign(fonts, { usual: font }),
    /** Resets the formatting of characters. */
    usePlain(): void {
      const codePage = fonts.codePageOf(fonts.usual)
      Object.assign(group, PLAIN, { codePage })
    },
    finish(): Extracted {
      flush()
      const text = [output.finish(), ...furniture.lines()].filter(Boolean).join('\n\n')
      return { text, ...(warnings.length > 0 && { warnings }) }
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
