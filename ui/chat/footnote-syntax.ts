import type { MarkedExtension } from 'marked'
import { nextBlock, nextInline } from './next-start.ts'

const LABEL = String.raw`\[\^([\p{L}\p{N}_-]{1,40})\]`
/** The definition of a link, which is not a citation: `[1]: https://…` below an answer names its source. */
const NUMBERED = /^ {0,3}\[(?:\d{1,3}|\^[^\]]+)\]:/
const MARK = new RegExp(`^${LABEL}(?!:)`, 'u')
/** A note, with the lines that go on with it. */
const NOTE = new RegExp(String.raw`^ {0,3}${LABEL}:[ \t]+(.*(?:\n {2,}\S.*)*)(?:\n+|$)`, 'u')

/** Footnotes within an answer, `[^1]` and `[^1]: …`. They are lettered, since citations are numbered. */
export function footnotes(): MarkedExtension {
  return {
    extensions: [
      {
        name: 'noteMark',
        level: 'inline',
        start: (text) => nextInline(text, (part) => part.indexOf('[^')),
        tokenizer(text) {
          const [raw, label] = MARK.exec(text) ?? []
          return raw ? { type: 'noteMark', raw, label } : undefined
        },
        renderer: ({ label }) => `<sup class="note-mark">${label}</sup>`,
      },
      {
        name: 'note',
        level: 'block',
        start: (text) => nextBlock(text, (part) => part.indexOf('\n[^')),
        tokenizer(text) {
          const [raw, label, note = ''] = NOTE.exec(text) ?? []
          if (!raw) return undefined
          const tokens = this.lexer.inlineTokens(note.replaceAll(/\n\s+/g, '\n'))
          return { type: 'note', raw, label, tokens }
        },
        renderer({ label, tokens = [] }) {
          return `<p class="note-text"><sup>${label}</sup> ${this.parser.parseInline(tokens)}</p>\n`
        },
      },
    ],
    tokenizer: {
      def: (text) => (NUMBERED.test(text) ? undefined : false),
    },
  }
}

const NOTE_LABELS = new RegExp(String.raw`^ {0,3}${LABEL}:[ \t]`, 'gmu')

/** The labels of the notes of a text, in the order in which they stand. */
export const noteLabels = (text: string): string[] =>
  Array.from(text.matchAll(NOTE_LABELS), ([, label = '']) => label)

/** A letter for each label. */
export const noteLetters = (labels: readonly string[]): Map<string, string> =>
  new Map(Array.from(new Set(labels), (label, place) => [label, letterOf(place)]))

const letterOf = (place: number) => String.fromCodePoint(97 + (place % 26)).repeat(place / 26 + 1)
