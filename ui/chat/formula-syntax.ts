import { formulaInText, formulaOnLines } from '@agent-server/lib/markdown/formulas.ts'
import type { TokenizerAndRendererExtension } from 'marked'
import { nextBlock, nextInline } from './next-start.ts'

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
      start: (text) => nextInline(text, (part) => part.search(/(?<![\p{L}\p{N}])\$|\\\(/u)),
      tokenizer(text) {
        const raw = formulaInText(text)
        return raw === undefined ? undefined : { type: 'formula', raw }
      },
      renderer: ({ raw }) => asWritten(raw),
    },
    {
      name: 'formulaOnLines',
      level: 'block',
      start: (text) => nextBlock(text, (part) => part.search(/(?<=\n) {0,3}(?:\$\$|\\\[)/)),
      tokenizer(text) {
        const raw = formulaOnLines(text)
        return raw === undefined ? undefined : { type: 'formulaOnLines', raw }
      },
      renderer: ({ raw }) => `<p>${asWritten(raw.trim())}</p>\n`,
    },
  ]
}
