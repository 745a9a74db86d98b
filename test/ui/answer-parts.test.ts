import { Marked } from 'marked'
import { describe, expect, it } from 'vitest'
import { type AnswerPart, answerParts } from '../../ui/chat/answer-parts.ts'
import { boundedNesting } from '../../ui/chat/bounded-nesting.ts'
import { footnotes } from '../../ui/chat/footnote-syntax.ts'
import { formulaSyntax } from '../../ui/chat/formula-syntax.ts'
import { long, someOf } from '../support/long.ts'
import { processorMs } from '../support/processor-time.ts'

const markdown = new Marked({ gfm: true, breaks: true, extensions: formulaSyntax((text) => text) })
markdown.setOptions({ tokenizer: boundedNesting() })
markdown.use(footnotes())
const render = (text: string) => markdown.parse(text, { async: false })

const LONG = `${'The library opens **at ten** [1]. '.repeat(70)}\n\n`
const list = '- one\n\n  more of it\n\n- two\n\n'
const CASES: [name: string, text: string][] = [
  ['paragraphs and headings', `# A\n\n${LONG}## B\n\n${LONG}Text\n\n${LONG}`],
  ['lists with blank lines', `${LONG}${list.repeat(400)}After.\n\n${LONG}1. a\n\n2. b\n\nEnd`],
  ['code with blank lines', `${LONG}\`\`\`py\n${'x = 1\n\nprint(x)\n\n'.repeat(300)}\`\`\`\n\nEnd`],
  ['code that is still open', `${LONG}Text\n\n~~~\nText\n\n# no heading\n\n${LONG}`],
  ['a formula with blank lines', `${LONG}$$\nx\n\ny\n\nz\n$$\n\nEnd`],
  ['what begins as a formula', `${LONG}$$ x\n\n${LONG}Text\n\n${LONG}${LONG}End`],
  [
    'tables and quotations',
    `${LONG}> a\n>\n> b\n\nText\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n${LONG}End`,
  ],
  ['notes', `${LONG}Text[^1].\n\n[^1]: A note\n  that goes on.\n\n${LONG}End[^1]`],
  ['code in a list', `${LONG}- a\n\n  \`\`\`\n  Text\n\n  Text\n  \`\`\`\n\nEnd\n\n${LONG}`],
  ['Greek and Arabic', `${LONG}Η βιβλιοθήκη\n\n${LONG}تفتح المكتبة\n\n${LONG}`],
]

describe('An answer that is cut into parts', () => {
  it.each(CASES)('says the same as the whole: %s', (_name, text) => {
    const parts = answerParts(text).map((part) => part.text)
    expect(parts.length).toBeGreaterThan(1)
    expect(parts.join('')).toBe(text)
    expect(parts.map(render).join('')).toBe(render(text))
  })

  it.each(CASES)('keeps its parts while it grows, all but the last: %s', (_name, text) => {
    let before: readonly AnswerPart[] = []
    for (let end = 0; end <= text.length; end += 97) {
      const parts = answerParts(text.slice(0, end), before)
      expect(parts.slice(0, before.length - 1)).toEqual(before.slice(0, -1))
      expect(parts).toEqual(answerParts(text.slice(0, end)))
      before = parts
    }
  })

  it('knows below which headings each part stands', () => {
    const parts = answerParts(`# A\n\n${LONG}## B\n\n${LONG}### C\n\n${LONG}## D\n\n${LONG}Text`)
    expect(parts.map(({ above }) => above)).toEqual([[], [1], [1, 2], [1, 2, 3], [1, 2]])
  })
})

const repeated = (piece: string, length: number) => piece.repeat(length / piece.length)

it.each(
  someOf(
    [
      ['one paragraph', 'The **library** opens at `ten`. '],
      ['lines without blank ones', 'A line of *text* here\n'],
      ['many notes', 'Text [^1] goes on.\n\n[^1]: The note.\n\n'],
      ['many short blocks', '## A\n\nOne [1].\n\n'],
      ['a list', '- an item of **text** [1]\n'],
      ['names in code', 'library_opens_at '],
      ['dollars', 'costs $5 or '],
    ],
    2,
  ),
)('A long answer is read in time that grows with its length: %s', long, (_name, piece) => {
  render(repeated(piece, 20_000))
  const measure = (length: number) => {
    const text = repeated(piece, length)
    const started = processorMs()
    render(text)
    return processorMs() - started
  }
  const short = Math.max(measure(50_000), 20)
  expect(measure(400_000)).toBeLessThan(short * 8 * 4)
})
