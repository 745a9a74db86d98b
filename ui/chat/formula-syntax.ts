import type { TokenizerAndRendererExtension } from 'marked'

/**
 * In a line of text, of at most 2,000 characters. What encloses a formula is no part of a word or a price, as in
 * `$5 and $10` or `$HOME/$USER`.
 */
const IN_TEXT =
  /^(?:\$\$(?:\\.|[^\\$`]){1,2000}\$\$|\$(?![\s$])(?:\\.|[^\\$`\n]){1,2000}(?<!\s)\$(?![\p{L}\p{N}$])|\\\((?:\\[^)]|[^\\]){1,2000}\\\))/su
/** On lines of its own. */
const ON_LINES =
  /^ {0,3}(?:\$\$(?:\\.|[^\\$]){1,2000}\$\$|\\\[((?:\\[^\]]|[^\\]){1,2000})\\\])[ \t]*(?:\n|$)/s
/** An amount of money with words after it, up to another amount. */
const AMOUNT = /^\$\d[\d.,]*\s+\p{L}{2}/u
/** Brackets around words may also be escaped to be shown. */
const MATHEMATICAL = /[\\^_=+*/<>|]/

/** Reads LaTeX in Markdown, as `$…$`, `\(…\)`, `$$…$$` and `\[…\]`, and leaves it as it is written, to be drawn later. */
export function formulaSyntax(escaped: (text: string) => string): TokenizerAndRendererExtension[] {
  // The server writes `&lt;` where a tag might begin.
  const asWritten = (source: string) =>
    `<span class="formula">${escaped(source.replaceAll('&lt;', '<'))}</span>`
  return [
    {
      name: 'formula',
      level: 'inline',
      // Not within a word.
      start: (text) => placeOf(/(?<![\p{L}\p{N}])\$|\\\(/u, text),
      tokenizer(text) {
        const [raw] = IN_TEXT.exec(text) ?? []
        if (!raw || AMOUNT.test(raw)) return undefined
        return { type: 'formula', raw }
      },
      renderer: ({ raw }) => asWritten(raw),
    },
    {
      name: 'formulaOnLines',
      level: 'block',
      start: (text) => placeOf(/(?<=\n) {0,3}(?:\$\$|\\\[)/, text),
      tokenizer(text) {
        const [raw, inBrackets = '='] = ON_LINES.exec(text) ?? []
        if (!raw || !MATHEMATICAL.test(inBrackets)) return undefined
        return { type: 'formulaOnLines', raw }
      },
      renderer: ({ raw }) => `<p>${asWritten(raw.trim())}</p>\n`,
    },
  ]
}

function placeOf(pattern: RegExp, text: string): number | undefined {
  const place = text.search(pattern)
  return place === -1 ? undefined : place
}
