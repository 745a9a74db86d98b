import { Marked } from 'marked'
import { describe, expect, it } from 'vitest'
import { boundedNesting } from '../../ui/chat/bounded-nesting.ts'
import { long, someOf } from '../support/long.ts'

const markdown = new Marked({ gfm: true, breaks: true })
markdown.setOptions({ tokenizer: boundedNesting() })
const render = (text: string) => markdown.parse(text, { async: false })
const signsIn = (html: string) => html.match(/&gt;|&#62;/g)?.length ?? 0

const DEEP = 20_000
const opened = (signs: string, end: string, levels = DEEP) =>
  `${signs.repeat(levels)}word${end.repeat(levels)}`

describe('Markdown that is nested too deeply', () => {
  it.each(
    someOf(
      [
        ['quotations', opened('>', '')],
        ['quotations with blanks', opened('> ', '')],
        ['lists', opened('- ', '')],
        ['numbered lists', opened('1. ', '')],
        ['quotations and lists by turns', opened('> - ', '')],
        ['emphasis', opened('*a _b ', ' b_ a*', 4_000)],
        ['emphasis of one kind', opened('*a **b ', ' b** a*', 4_000)],
        ['struck words', opened('~~a *b ', '* ~~', 4_000)],
        ['links', opened('[', '](/x)')],
        ['brackets', opened('![', ']')],
        [
          'indented items',
          Array.from({ length: 400 }, (_, i) => `${'  '.repeat(i)}- word`).join('\n'),
        ],
      ],
      4,
    ),
  )('is shown as text from there on: %s', long, (_what, text) => {
    expect(render(text)).toContain('word')
  })

  it('loses none of its signs, and leaves the blocks around it alone', () => {
    const html = render(`**Before**\n\n${'>'.repeat(DEEP)}\n\n> *after*\n`)
    expect(html).toContain('<strong>Before</strong>')
    expect(html).toContain('<blockquote>\n<p><em>after</em></p>\n</blockquote>')
    expect(signsIn(html)).toBe(DEEP - 50)
  })
})

it('Twenty levels of quotations and lists are shown as such', () => {
  const quotations = render(`${'> '.repeat(20)}word`)
  expect(quotations.match(/<blockquote>/g)).toHaveLength(20)
  const items = Array.from({ length: 20 }, (_, i) => `${'  '.repeat(i)}- item`).join('\n')
  expect(render(items).match(/<ul>/g)).toHaveLength(20)
})
