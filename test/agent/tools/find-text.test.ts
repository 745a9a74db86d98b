import { forCaller } from '@agent-server/schemas/visibility.ts'
import { describe, expect, it } from 'vitest'
import { createCitations } from '../../../src/agent/citations/citations.ts'
import type { ToolContext } from '../../../src/agent/tools/define-tool.ts'
import { findText } from '../../../src/agent/tools/find-text.ts'
import { long, someOf } from '../../support/long.ts'
import { processorMs } from '../../support/processor-time.ts'
import { longestTurn } from '../../support/turn-probe.ts'
import { createContext } from './context-for-test.ts'
import { documentOf } from './stored-document.ts'

const TEXTS: Record<string, string> = {
  manual: 'Start.\n\nError E1234: the disk\nis full.\nSee E1234b, e1234 and </passages>.',
  notes: 'The disk  is not full.',
}
const LONG = `${'a'.repeat(15_990)} needle ${'b'.repeat(40_000)} needle`

function find(input: object, context: Partial<ToolContext> = {}, texts = TEXTS) {
  const documents = Object.entries(texts).map(([id, content]) =>
    documentOf({ id, title: id, content }),
  )
  const tool = findText({
    store: {
      get: async ({ collections }, id) =>
        collections === 'all' ? documents.find((document) => document.id === id) : undefined,
    },
    lookup: {
      findDocuments: async () => ({ documents, nextCursor: undefined }),
      readText: async (_visibility, id) => texts[id],
    },
  })
  return tool.run(input, createContext(context), new AbortController().signal)
}

describe('find_text', () => {
  it('finds and counts whole words in any case, with their lines, numbered to cite', async () => {
    const citations = createCitations()
    const said = citations.show(await find({ text: 'e1234' }, { citations }))
    expect(said).toBe(
      [
        '2 places in 1 of 2 documents.',
        '<passages>',
        'manual: 2 places',
        '[1] line 3, character 14: Error E1234: the disk',
        '[2] line 5, character 51: See E1234b, e1234 and &lt;/passages>.',
        '</passages>',
      ].join('\n'),
    )
    expect(citations.all()).toMatchObject([
      { documentId: 'manual', text: 'Error E1234: the disk', start: 8, end: 29 },
      { documentId: 'manual', start: 39 },
    ])
  })

  it('finds a phrase over white space and ends of lines', async () => {
    expect(await find({ text: 'the disk is full' })).toMatch(/^1 place in 1 of 2 documents\./)
    expect(await find({ text: 'The disk is not  full' })).toMatch(/notes: 1 place/)
  })

  it.each([
    ['Käfighalle', 'Die Ka\u0308fighalle ist offen.'],
    ['Ka\u0308fighalle', 'Die Käfighalle ist offen.'],
    ["coordinator's", 'The coordinator\u2019s list.'],
    ['\u201cowl\u201d', 'The "owl" sleeps.'],
    ['office', 'The o\ufb03ce is shut.'],
    ['waterway', 'The water\u00adway is deep.'],
    ['ABC 12', 'Part \uff21\uff22\uff23 \uff11\uff12 is gone.'],
    ['2-4', 'From 2\u20134 May.'],
    ['한국', 'In \u1112\u1161\u11ab\u1100\u116e\u11a8 today.'],
  ])('finds %j however it is written', async (text, content) => {
    const citations = createCitations()
    expect(await find({ text }, { citations }, { note: content })).toMatch(/^1 place/)
    expect(await find({ text, regex: true }, {}, { note: content })).toMatch(/^1 place/)
    expect(citations.all()).toMatchObject([{ text: content, start: 0, end: content.length }])
  })

  it('finds what is written so in the middle of a long text, once', async () => {
    const long = `${'\u00e4'.repeat(15_995)} Ka\u0308fig ${'x\u0308'.repeat(20_000)} Käfig`
    expect(await find({ text: 'käfig' }, {}, { long })).toMatch(/^2 places/)
  })

  it('takes a regular expression, and says what is wrong with one', async () => {
    expect(await find({ text: String.raw`\be\d+`, regex: true })).toMatch(/^3 places/)
    expect(await find({ text: '^is .*$', regex: true })).toMatch(/line 4/)
    // A sign of Chinese is that sign, and no operator.
    const question = '什么？\n什\n'
    expect(await find({ text: '什么？', regex: true }, {}, { note: question })).toMatch(/^1 place/)
    await expect(find({ text: '(', regex: true })).rejects.toThrow(
      /^text: not a regular expression/,
    )
    await expect(find({ text: '(?<=a)b', regex: true })).rejects.toThrow(/RE2/)
  })

  it('looks in one document if it is named, and only in one that the run may see', async () => {
    expect(await find({ text: 'disk', document: 'notes' })).toMatch(/^1 place in 1 of 1 document\./)
    await expect(find({ text: 'disk', document: 'none' })).rejects.toThrow(/^document: /)
    const visibility = forCaller({ collections: [] })
    await expect(find({ text: 'disk', document: 'notes' }, { visibility })).rejects.toThrow(
      /^document: /,
    )
  })

  it('tells the page where there are pages', async () => {
    const texts = { pages: 'One owl.\f\nNo bird.\f\nAn owl.' }
    const said = await find({ text: 'owl' }, {}, texts)
    expect(said.match(/page \d, line \d/g)).toEqual(['page 1, line 1', 'page 3, line 3'])
  })

  it('says that nothing was found', async () => {
    expect(await find({ text: 'penguin' })).toBe('Not found in 2 documents.')
  })

  it('finds what lies between two pieces once', async () => {
    expect(await find({ text: 'needle' }, {}, { long: LONG })).toMatch(/^2 places/)
    expect(await find({ text: 'need.e', regex: true }, {}, { long: LONG })).toMatch(/^2 places/)
    expect(await find({ text: 'a+ ', regex: true }, {}, { long: LONG })).toMatch(/^1 place /)
  })

  it('shows some of many places, and counts the others', async () => {
    const texts = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => [`d${n}`, 'cat\n'.repeat(10)]),
    )
    const said = await find({ text: 'cat' }, {}, texts)
    expect(said).toMatch(/^600 places in 60 of 60 documents\./)
    expect(said.match(/line \d+/g)).toHaveLength(20)
    expect(said).toMatch(/10 documents more\.$/)
    expect(said.length).toBeLessThan(8_000)
  })

  it.each(['((x?x?x?x?){30}){30}!', '(.{0,90}){9}.{0,900}!', '[^a]{1000}[^b]{1000}!'])(
    'refuses an expression that would run for long: %s',
    async (text) => {
      const search = find({ text, regex: true }, {}, { long: 'x'.repeat(100_000) })
      await expect(search).rejects.toThrow('repeat less')
    },
  )

  it.each(
    someOf(
      [
        '.{0,900}!',
        String.raw`(\w{1,30}\s){1,20}end`,
        '(x?x?x?){15}((y|x){1,9}){9}!',
        'x(.{0,800}!)?',
      ],
      1,
    ),
  )('lets others have a turn within 50 ms, whatever the expression: %s', long, async (text) => {
    // The first call loads and compiles.
    await find({ text, regex: true })
    const long = 'x'.repeat(30_000)
    const longest = await longestTurn(() => find({ text, regex: true }, {}, { long }))
    expect(longest).toBeLessThan(100)
  })

  it('takes time linear in the text, whatever the expression', async () => {
    const text = 'x'.repeat(200_000)
    const before = processorMs()
    expect(await find({ text: '(x+x+)+y', regex: true }, {}, { text })).toMatch(/^Not found/)
    expect(await find({ text: `${'x '.repeat(90)}y` }, {}, { text: 'x '.repeat(100_000) })).toMatch(
      /^Not found/,
    )
    expect(processorMs() - before).toBeLessThan(5_000)
  })
})
