import { nestedTooDeeply } from '../extracted.ts'
import { CODE_PAGE_OF_CHARSET, createDecoder, createFonts } from './rtf-code-pages.ts'
import { PUNCTUATION, readRtf } from './rtf-tokens.ts'

// Rich text of messages: compressed by [MS-OXRTFCP], with a page within it by [MS-OXRTFEX].

const HEADER_BYTES = 16
const UNCOMPRESSED = 'MELA'
const WINDOW = 4_096
/** What both sides know before the first byte. */
const DICTIONARY =
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx'

/** Reads as far as the bytes are whole. */
export function decompressRtf(bytes: Buffer): Buffer {
  const packed = bytes.subarray(HEADER_BYTES)
  if (bytes.toString('latin1', 8, 12) === UNCOMPRESSED) return packed
  const window = Buffer.alloc(WINDOW)
  let place = window.write(DICTIONARY, 'latin1')
  const output: number[] = []
  const write = (byte = 0) => {
    output.push(byte)
    window[place] = byte
    place = (place + 1) % WINDOW
  }
  for (const token of tokensIn(packed)) {
    if (typeof token === 'number') write(token)
    // A reference to what is about to be written is the end.
    else if (token.from === place) break
    else for (let i = 0; i < token.length; i++) write(window[(token.from + i) % WINDOW])
  }
  return Buffer.from(output)
}

/** Bytes, and references to what has been written. */
function* tokensIn(packed: Buffer): Generator<number | { from: number; length: number }> {
  for (let at = 0; at < packed.length; ) {
    const control = packed[at++] ?? 0
    for (let bit = 0; bit < 8 && at < packed.length; bit++) {
      const byte = packed[at++] ?? 0
      if ((control & (1 << bit)) === 0) yield byte
      else {
        const next = packed[at++] ?? 0
        yield { from: (byte << 4) | (next >> 4), length: (next & 0xf) + 2 }
      }
    }
  }
}

/** Real messages nest a few dozen groups. */
const MAX_DEPTH = 1_000
/** Where `\fromhtml1` stands. */
const HEAD_BYTES = 2_000

interface Group {
  sink: 'page' | 'fonts' | 'nowhere'
  /** What only readers of rich text are to see. */
  isForRtf: boolean
  codePage: number | undefined
  /** How many characters behind a Unicode character repeat it for old programs. */
  repeats: number
}

/** The page that rich text was made of, if it was. */
export function pageWithin(rtf: Buffer): string | undefined {
  if (!/\\fromhtml1?(?![\da-z])/.test(rtf.toString('latin1', 0, HEAD_BYTES))) return undefined
  const pieces: string[] = []
  const decoder = createDecoder(() => undefined)
  const fonts = createFonts()
  const groups: Group[] = []
  let group: Group = { sink: 'page', isForRtf: false, codePage: undefined, repeats: 1 }
  let isOptional = false
  let repeats = 0
  const add = (text: string) => {
    if (group.sink === 'page' && !group.isForRtf) pieces.push(text)
  }
  const flush = () => {
    add(decoder.take())
    repeats = 0
  }
  const words = new Map<string, (value: number | undefined) => void>([
    ['htmlrtf', (value) => Object.assign(group, { isForRtf: value !== 0 })],
    ['fonttbl', () => Object.assign(group, { sink: 'fonts' })],
    ...NOT_OF_PAGE.map((name) => [name, () => Object.assign(group, { sink: 'nowhere' })] as const),
    ['ansicpg', (value) => Object.assign(fonts, { usualCodePage: value ?? fonts.usualCodePage })],
    [
      'fcharset',
      (value = 0) => group.sink === 'fonts' && fonts.name(CODE_PAGE_OF_CHARSET.get(value)),
    ],
    [
      'f',
      (value = 0) =>
        group.sink === 'fonts'
          ? Object.assign(fonts, { current: value })
          : Object.assign(group, { codePage: fonts.codePageOf(value) }),
    ],
    ['uc', (value = 1) => Object.assign(group, { repeats: Math.max(value, 0) })],
    ...Object.entries(WRITTEN).map(([name, text]) => [name, () => add(text)] as const),
    [
      'u',
      (value = 0) => {
        add(String.fromCharCode(value & 0xffff))
        repeats = group.repeats
      },
    ],
  ])
  readRtf(rtf, {
    open() {
      flush()
      if (groups.length >= MAX_DEPTH) throw nestedTooDeeply()
      groups.push(group)
      group = { ...group }
    },
    close() {
      flush()
      group = groups.pop() ?? group
    },
    word(name, value) {
      flush()
      if (isOptional && name !== 'htmltag') group.sink = 'nowhere'
      isOptional = false
      words.get(name)?.(value)
    },
    symbol(sign) {
      flush()
      isOptional = sign === '*'
      add(SIGNS.get(sign) ?? '')
    },
    text(bytes) {
      const count = Math.min(repeats, bytes.length)
      repeats -= count
      const isOfPage = group.sink === 'page' && !group.isForRtf
      if (isOfPage) decoder.add(bytes.subarray(count), group.codePage ?? fonts.usualCodePage)
    },
  })
  flush()
  return pieces.join('')
}

const NOT_OF_PAGE = ['colortbl', 'stylesheet', 'info', 'pict']
const WRITTEN = {
  par: '\r\n',
  line: '\r\n',
  tab: '\t',
  ...PUNCTUATION,
}
const SIGNS = new Map([
  ['\\', '\\'],
  ['{', '{'],
  ['}', '}'],
  ['~', '&nbsp;'],
  ['_', '-'],
])
