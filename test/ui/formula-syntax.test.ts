import { Marked } from 'marked'
import { describe, expect, it } from 'vitest'
import { formulaSyntax } from '../../ui/chat/formula-syntax.ts'
import { processorMs } from '../support/processor-time.ts'

const markdown = new Marked({ gfm: true, breaks: true, extensions: formulaSyntax((text) => text) })
const render = (text: string) => markdown.parse(text, { async: false })
const formulasIn = (text: string) =>
  Array.from(render(text).matchAll(/<span class="formula">(.*?)<\/span>/gs), ([, source]) => source)

describe('A formula in Markdown', () => {
  it.each([
    ['$x^2$ and $y$', ['$x^2$', '$y$']],
    ['so $a_1$, $b_1$.', ['$a_1$', '$b_1$']],
    ['of $5 \\text{ m}$ in **$5$ s**', ['$5 \\text{ m}$', '$5$']],
    ['where $a&lt;b$', ['$a<b$']],
    ['then $$x$$ holds', ['$$x$$']],
    ['then \\(f(x) = \\sqrt[3]{x}\\) holds', ['\\(f(x) = \\sqrt[3]{x}\\)']],
    ['Thus\n$$\nx\n\\$\n$$\nholds', ['$$\nx\n\\$\n$$']],
    ['Thus\n\\[\na\n\\\\[1ex]\n= b\n\\]\nholds', ['\\[\na\n\\\\[1ex]\n= b\n\\]']],
    ['- one\n  $$a*b*c$$\n- two', ['$$a*b*c$$']],
    ['| a | b |\n| - | - |\n| $x$ | $y$ |', ['$x$', '$y$']],
  ])('is kept as it is written: %j', (text, formulas) => {
    expect(formulasIn(text)).toEqual(formulas)
  })

  it.each([
    'It costs $5 and $10, US$5-US$10, $5/$10 or $1.5k–$2k.',
    'Either $5 million or 6 million$ of it.',
    'Set $HOME and $PATH, $HOME/$USER, PS$1$.',
    'In code: `$x$`, or $a `$b$` c.',
    'Escaped: \\$x\\$ and \\[citation needed\\]',
    '\\[1\\]',
    '\\[see below\\]',
    'Open: $x and $$y and \\(z and \\[w',
    '$ x $',
  ])('is not seen in %j', (text) => {
    expect(formulasIn(text)).toEqual([])
  })

  it.each([
    '\\('.repeat(20_000),
    '$a '.repeat(20_000),
    `${'$$'.repeat(20_001)}a`,
    '\n\\['.repeat(5_000),
    '*a* '.repeat(10_000),
  ])('is looked for in bounded time: %.20s', (text) => {
    const started = processorMs()
    formulasIn(text)
    expect(processorMs() - started).toBeLessThan(5_000)
  })
})
