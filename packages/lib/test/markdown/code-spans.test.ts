import { CodeScanner, type Span } from '@agent-server/lib/markdown/code-spans.ts'
import { describe, expect, it } from 'vitest'
import { long, someOf } from '../../../../test/support/long.ts'
import { processorMs } from '../../../../test/support/processor-time.ts'

const FENCE = '```'

/** The code of a text, certain in `[]`, likely in `()`. */
function marked(pieces: readonly string[]): string {
  const scanner = new CodeScanner()
  const spans = [...pieces.flatMap((piece) => scanner.write(piece)), ...scanner.end()]
  const marks: Record<Span['code'], readonly [string, string]> = {
    none: ['', ''],
    likely: ['(', ')'],
    certain: ['[', ']'],
  }
  const shown = spans.map(({ text, code }) => marks[code][0] + text + marks[code][1]).join('')
  return shown.replaceAll(/\]\[|\)\(/g, '')
}

const CASES = [
  ['take `a` and `` b`c `` here', 'take [`a`] and [`` b`c ``] here'],
  ['an open ` here\nand `code`', 'an open ` here\nand (`code`)'],
  ['an open ` here\n\nand `code`', 'an open ` here\n\nand [`code`]'],
  ['a \\` tick `b`', 'a \\` tick [`b`]'],
  ['| `a` | `b | c` |', '| [`a`] | (`b | c`) |'],
  ['<div> `a`', '<div> (`a`)'],
  ['1 < 2 and `a`', '1 < 2 and [`a`]'],
  [`${FENCE}js\nx\n${FENCE}\nrest`, `[${FENCE}js\nx\n${FENCE}\n]rest`],
  [`~~~~\nx\n~~~\n${FENCE}\ny\n~~~~\nz`, `[~~~~\nx\n~~~\n${FENCE}\ny\n~~~~\n]z`],
  [`1. ${FENCE}\n   x\n   ${FENCE}\ny`, `(1. ${FENCE}\n   x\n   ${FENCE}\n)y`],
  [`<div>\n${FENCE}\n\nx`, `<div>\n(${FENCE}\n\nx)`],
  [`${FENCE}x${FENCE} y`, `[${FENCE}x${FENCE}] y`],
  ['so $x_{[1]}$ and $$[2]$$ [3]', 'so ($x_{[1]}$) and ($$[2]$$) [3]'],
  ['then \\(x = [1]\\) and \\[1\\]', 'then (\\(x = [1]\\)) and \\[1\\]'],
  ['so\n\\[\nx = [1]\n\n\\]\nholds', 'so\n(\\[\nx = [1]\n\n\\]\n)holds'],
  ['- $$\n  [1]\n  $$\n[2]', '- ($$\n  [1]\n  $$\n)[2]'],
  ['for $5 and $10 [1], $HOME/$USER [2]', 'for $5 and $10 [1], $HOME/$USER [2]'],
  ['an open $x [1]\nand $$y [2]\n\n$$ \\(z [3]', 'an open $x [1]\nand $$y [2]\n\n$$ \\(z [3]'],
  ['in `$` code `[1]$`', 'in [`$`] code [`[1]$`]'],
  [`${FENCE}\nto the end`, `[${FENCE}\nto the end]`],
  [`${FENCE}\nx\n    ${FENCE}\n${FENCE}\ny`, `[${FENCE}\nx\n    ${FENCE}\n${FENCE}\n]y`],
] as const

describe('Code in a streamed text', () => {
  it.each(CASES)('%j is marked as %j', (text, expected) => {
    expect(marked([text])).toBe(expected)
  })

  it('is the same wherever the text is cut', () => {
    for (const [text, expected] of CASES) {
      expect(marked(text.split(''))).toBe(expected)
      for (let at = 1; at < text.length; at += 1) {
        expect(marked([text.slice(0, at), text.slice(at)])).toBe(expected)
      }
    }
  })

  it.each([994, 996, 998, 999, 1_000])(
    'ends an element whose end stands %d characters on',
    (length) => {
      const scanner = new CodeScanner()
      const spans = [
        ...scanner.write(`<pre>${'x'.repeat(length)}</pre> see [1] there.`),
        ...scanner.end(),
      ]
      const plain = spans.filter(({ code }) => code === 'none').map(({ text }) => text)
      expect(plain.join('')).toBe(' see [1] there.')
    },
  )

  it('holds back no plain text, and little of what never ends', () => {
    const scanner = new CodeScanner()
    expect(scanner.write('At nine.')).toEqual([{ text: 'At nine.', code: 'none' }])
    expect(scanner.write('`open')).toEqual([])
    const shown = scanner.write('x'.repeat(2_000)).map(({ text }) => text)
    expect(shown.join('')).toHaveLength(2_005)
  })
})

it.each(someOf(['\\(', '\\[\n', '\\(a\\[b\n', '$a ', '``a`', '<code>', '~~~\n', '> - `a\n'], 2))(
  'Time is linear in a text of nothing but %j',
  long,
  (shape) => {
    const timeOf = (characters: number) => {
      const began = processorMs()
      const scanner = new CodeScanner()
      const text = shape.repeat(characters / shape.length)
      for (let at = 0; at < text.length; at += 4_000) scanner.write(text.slice(at, at + 4_000))
      scanner.end()
      return processorMs() - began
    }
    timeOf(100_000)
    expect(timeOf(1_000_000)).toBeLessThan(2_000)
  },
)

it.each([
  '\\('.repeat(2_000),
  `${'\\('.repeat(1_900)}\\\\)`,
  `${'\\('.repeat(900)}${'a'.repeat(2_050)}\\)`,
  `${'\\['.repeat(900)}\\]`,
])('Short texts take no longer than a long one: %.8s', (text) => {
  const began = processorMs()
  for (let time = 0; time < 250; time += 1) {
    const scanner = new CodeScanner()
    scanner.write(text)
    scanner.end()
  }
  expect(processorMs() - began).toBeLessThan(2_000)
})
