import type { Extracted } from '../extracted.ts'
import { subscript, superscript } from '../marks.ts'
import { CODE_PAGE_OF_CHARSET, MACINTOSH, WESTERN } from './rtf-code-pages.ts'
import { createRtfDocument, type RtfDocument } from './rtf-document.ts'
import { PUNCTUATION, readRtf } from './rtf-tokens.ts'

// Rich Text Format, version 1.9.1.

/** Text, headings, lists and tables as Markdown; footnotes and comments in brackets where they belong. */
export function extractRtf(bytes: Buffer): Extracted {
  const document = createRtfDocument()
  /** Whether nothing of a group was read yet: only there does `\\*` mean anything. */
  let isGroupStart = false
  /** Whether the group that begins may be skipped by a program that does not know it. */
  let isOptional = false
  /** Characters to skip, which repeat a Unicode character for old programs. */
  let repeats = 0
  const begin = () => {
    document.flush()
    repeats = 0
  }

  readRtf(bytes, {
    open() {
      begin()
      document.open()
      isGroupStart = true
    },
    close() {
      begin()
      document.close()
    },
    word(name, value) {
      begin()
      const isSkipped = (isOptional && !READ_OPTIONAL.has(name)) || MATH_PROPERTIES.test(name)
      isOptional = false
      isGroupStart = false
      if (isSkipped) document.sinkInto('nowhere')
      else WORDS.get(name)?.(document, value)
      if (name === 'u') repeats = document.group.repeats
    },
    symbol(sign) {
      begin()
      isOptional = sign === '*' && isGroupStart
      isGroupStart = false
      if (sign === '\n' || sign === '\r') document.breakParagraph()
      else document.add(SYMBOLS.get(sign) ?? '')
    },
    text(piece) {
      isGroupStart = false
      const count = Math.min(repeats, piece.length)
      repeats -= count
      document.text(piece.subarray(count))
    },
  })
  return document.finish()
}

/** Groups that a program may skip if it does not know them, and that are known here. */
const READ_OPTIONAL = new Set(
  'shpinst nesttableprops annotation atnauthor footnote moMath moMathPara formfield ffl cs'.split(
    ' ',
  ),
)
const MATH_PROPERTIES = /^m[a-zA-Z]+Pr$/
/** Groups without text of the document. */
const SKIPPED = `colortbl stylesheet info pict fldinst
  sp shprslt nonesttables xe tc mmathPict`.split(/\s+/)
const BREAKS = ['par', 'sect', 'page', 'column']
const BODY_TEXT = 9

type Apply = (document: RtfDocument, value: number | undefined) => void

const WORDS: ReadonlyMap<string, Apply> = new Map<string, Apply>([
  ['rtf', ({ group }) => Object.assign(group, { sink: 'text' })],
  ['mac', ({ setCodePage }) => setCodePage(MACINTOSH)],
  ['ansicpg', ({ setCodePage }, value = WESTERN) => setCodePage(value)],
  ['fonttbl', ({ sinkInto }) => sinkInto('fonts')],
  ['fcharset', ({ nameFont }, value = 0) => nameFont(CODE_PAGE_OF_CHARSET.get(value))],
  ['cpg', ({ nameFont }, value) => nameFont(value)],
  ['f', ({ useFont }, value = 0) => useFont(value)],
  ['uc', ({ group }, value = 1) => Object.assign(group, { repeats: Math.max(value, 0) })],
  ['u', ({ add }, value = 0) => add(String.fromCharCode(value & 0xffff))],
  ['deff', ({ setUsualFont }, value = 0) => setUsualFont(value)],
  ['plain', ({ usePlain }) => usePlain()],
  ['v', ({ group }, value) => Object.assign(group, { isHidden: value !== 0 })],
  ['strike', ({ group }, value) => Object.assign(group, { isStruck: value !== 0 })],
  ['striked', ({ group }, value) => Object.assign(group, { isStruck: value !== 0 })],
  ['deleted', ({ group }, value) => Object.assign(group, { isDeleted: value !== 0 })],
  ['pard', ({ group }) => Object.assign(group, { isInTable: false, heading: undefined })],
  ['intbl', ({ group }) => Object.assign(group, { isInTable: true })],
  [
    'outlinelevel',
    ({ group }, value = 0) =>
      Object.assign(group, { heading: value < BODY_TEXT ? value + 1 : undefined }),
  ],
  ...BREAKS.map((name): [string, Apply] => [name, ({ breakParagraph }) => breakParagraph()]),
  ...['header', 'headerl', 'headerr', 'headerf'].map((name): [string, Apply] => [
    name,
    ({ sinkInto }) => sinkInto('header'),
  ]),
  ...['footer', 'footerl', 'footerr', 'footerf'].map((name): [string, Apply] => [
    name,
    ({ sinkInto }) => sinkInto('footer'),
  ]),
  ['super', ({ group }) => Object.assign(group, { script: superscript })],
  ['sub', ({ group }) => Object.assign(group, { script: subscript })],
  [
    'up',
    ({ group }, value = 6) => Object.assign(group, { script: value > 0 ? superscript : undefined }),
  ],
  [
    'dn',
    ({ group }, value = 6) => Object.assign(group, { script: value > 0 ? subscript : undefined }),
  ],
  ['nosupersub', ({ group }) => Object.assign(group, { script: undefined })],
  ['formfield', ({ beginForm }) => beginForm()],
  ['fftype', ({ group }, value) => Object.assign(group.form ?? {}, { isCheckbox: value === 1 })],
  ['ffres', ({ group }, value) => Object.assign(group.form ?? {}, { result: value })],
  ['ffdefres', ({ group }, value) => Object.assign(group.form ?? {}, { first: value })],
  ['ffl', ({ beginEntry }) => beginEntry()],
  ['trowd', ({ inText }) => inText((text) => text.beginRow())],
  ['cellx', ({ inText }, value = 0) => inText((text) => text.addEdge(value))],
  ['cell', ({ inText }) => inText((text) => text.endCell())],
  ['row', ({ inText }) => inText((text) => text.endRow())],
  ['nestcell', ({ add }) => add(' ')],
  ['listtext', ({ sinkInto }) => sinkInto('marker')],
  ['pntext', ({ sinkInto }) => sinkInto('marker')],
  ['footnote', ({ beginNote }) => beginNote()],
  ['atnauthor', ({ sinkInto }) => sinkInto('author')],
  ['annotation', ({ beginComment }) => beginComment()],
  ...SKIPPED.map((name): [string, Apply] => [name, ({ sinkInto }) => sinkInto('nowhere')]),
  ...Object.entries({
    tab: ' ',
    line: '\n',
    ...PUNCTUATION,
    emspace: ' ',
    enspace: ' ',
    qmspace: ' ',
  }).map(([name, text]): [string, Apply] => [name, ({ add }) => add(text)]),
])

const SYMBOLS: ReadonlyMap<string, string> = new Map([
  ['\\', '\\'],
  ['{', '{'],
  ['}', '}'],
  ['~', ' '],
  ['_', '-'],
  ['\t', ' '],
])
