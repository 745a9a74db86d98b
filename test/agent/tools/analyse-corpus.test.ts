import { type ModelUsage, telling, UNMETERED } from '@agent-server/models'
import { forCaller } from '@agent-server/schemas/visibility.ts'
import { describe, expect, it } from 'vitest'
import { analyseCorpus, countTerms } from '../../../src/agent/tools/analyse-corpus.ts'
import { ToolInputError } from '../../../src/agent/tools/define-tool.ts'
import { onlyLong } from '../../support/long.ts'
import { longestTurn } from '../../support/turn-probe.ts'
import { finish, toDelta } from '../run/scripted-model.ts'
import { createContext } from './context-for-test.ts'
import { createFakeDocuments } from './fake-lookup.ts'

const { signal } = new AbortController()
const USAGE: ModelUsage = { promptTokens: 5, completionTokens: 1 }

function create(texts: readonly string[], reply = 'A note.') {
  const parts = createFakeDocuments(texts)
  let calls = 0
  const model = {
    name: 'a-model',
    async *stream() {
      calls += 1
      yield [toDelta(reply), finish('stop', USAGE)]
    },
  }
  const tool = analyseCorpus({ ...parts, model, isStopWord: (word) => word === 'the' })
  const run = (input: object, context = createContext()) => tool.run(input, context, signal)
  return { ...parts, run, calls: () => calls }
}

const many = (count: number, size = 10) => Array.from({ length: count }, () => 'owl '.repeat(size))

describe('analyse_corpus', () => {
  it('counts only documents visible to the run', async () => {
    const { run, filters, visibilities } = create(['a'])
    const own = { field: 'a', eq: 1 }
    const visibility = forCaller({ collections: ['b'] })
    expect(await run({ task: 'count', filter: own }, createContext({ visibility }))).toBe(
      '1 documents.',
    )
    expect(filters).toEqual([own])
    expect(visibilities).toEqual([visibility])
  })

  it('lists the requested number as sources', async () => {
    const context = createContext()
    expect(await create(many(5)).run({ task: 'list', limit: 2 }, context)).toBe(
      'Listed 2 of 5 documents.\nk [1] Title 0 {"n":0}\nk [2] Title 1 {"n":1}',
    )
    expect(context.citations.all()).toHaveLength(2)
  })

  it('lowers a limit that is too high to the maximum', async () => {
    const result = await create(many(201)).run({ task: 'list', limit: 10_000 })
    expect(result).toContain('Listed 200 of 201 documents.')
  })

  it.each([
    [{ task: 'values', field: 'city' }, { inOrder: false }],
    [
      { task: 'timeline', field: 'city' },
      { inOrder: true, characters: 7 },
    ],
    [
      { task: 'timeline', field: 'city', per: 'year' },
      { inOrder: true, characters: 4 },
    ],
    [
      { task: 'timeline', field: 'city', per: 'day' },
      { inOrder: true, characters: 10 },
    ],
  ])('asks the index for %j', async (input, query) => {
    const { run, valueQueries } = create(['a'])
    expect(await run(input)).toBe('1 of 1 documents have the field city.\nx: 2')
    expect(valueQueries).toMatchObject([{ field: 'city', limit: 50, ...query }])
  })

  it('reads all, page after page', async () => {
    const { run, queries } = create(many(450))
    expect(await run({ task: 'terms' })).toBe(
      'Read 450 of 450 documents.\nowl: 4500 in 450 documents',
    )
    expect(queries).toHaveLength(3)
  })

  it('counts words of any script, but none of one or two letters', async () => {
    const texts = ['The owl and the Owl; OWL-like.', 'An owl, überall. 123 日本語の']
    expect(await create(texts).run({ task: 'terms', limit: 3 })).toBe(
      'Read 2 of 2 documents.\nowl: 3 in 2 documents\nand: 1 in 1 documents\nowl-like: 1 in 1 documents',
    )
    expect(await create(texts).run({ task: 'terms' })).toContain(
      '\nüberall: 1 in 1 documents\n日本語の',
    )
  })

  it('counts words in bounded memory', onlyLong, () => {
    const letters = (n: number) =>
      n.toString(26).replaceAll(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)] ?? '')
    const counts: Parameters<typeof countTerms>[0] = new Map()
    countTerms(counts, 'owls '.repeat(9), () => false)
    const words = Array.from({ length: 210_000 }, (_, n) => `w${letters(n)}`)
    countTerms(counts, [...words, ...words].join(' '), () => false)
    expect(counts.get('owls')).toEqual({ occurrences: 9, documents: 1 })
    expect(counts.size).toBeLessThanOrEqual(200_000)
  })

  it('finds texts that differ in case, space, punctuation and width alone', async () => {
    const texts = ['Same text', 'same\n  TEXT!', 'another', 'ＳＡＭＥ text']
    expect(await create(texts).run({ task: 'duplicates' })).toBe(
      'Read 4 of 4 documents: 1 groups of the same text.\n- k [1] Title 0 = k [2] Title 1 = k [3] Title 3',
    )
  })

  it.each(['terms', 'duplicates'])(
    'lets others have a turn during a long text (%s)',
    onlyLong,
    async (task) => {
      const { run } = create([
        Array.from({ length: 300_000 }, (_, n) => `word${n % 50_000}`).join(' '),
      ])
      await create(['A text.']).run({ task })
      expect(await longestTurn(() => run({ task }))).toBeLessThan(200)
    },
  )

  it('puts a question to all, tells how many were read, and what it cost', async () => {
    const spent: ModelUsage[] = []
    const context = createContext({
      meter: telling(UNMETERED, ({ usage }) => void (usage && spent.push(usage))),
    })
    const { run, calls } = create(many(3))
    const result = await run({ task: 'question', question: 'Owls?' }, context)
    expect(result).toMatch(
      /^Read 3 of 3 documents\.\n\nA note\.\n\nDocuments with something to say:\n/,
    )
    expect(spent).toHaveLength(calls())
    expect(context.citations.all()).toHaveLength(3)
  })

  it('reads no more than its budget, and says so', async () => {
    const { run } = create(many(12, 100_000))
    const result = await run({ task: 'question', question: 'Owls?' })
    expect(result).toMatch(
      /^Read 12 of 12 documents\. Of (\d+) only the beginning \(Title \d+: \d+ of \d+ characters/,
    )
    expect(result).toMatch(/: 24000 of \d+ characters/)
  })

  it('reads only as much of a long document as the model gets', async () => {
    const { run, parts } = create(many(1, 2_000_000))
    await run({ task: 'question', question: 'Owls?' })
    expect(parts).toEqual([
      { documentId: 'd0', start: 0, end: 24_000 },
      { documentId: 'd0', start: 24_000, end: 4_000_000 },
    ])
  })

  it('reports when no document has relevant content', async () => {
    const result = await create(many(2), 'NOTHING').run({ task: 'question', question: 'Owls?' })
    expect(result).toBe('Read 2 of 2 documents.\n\nNone of the documents says anything about it.')
  })

  it.each([
    { task: 'guess' },
    { task: 'values' },
    { task: 'timeline' },
    { task: 'question' },
    { task: 'count', filter: { field: 'a' } },
  ])('refuses %j', async (input) => {
    await expect((async () => create([]).run(input))()).rejects.toThrow(ToolInputError)
  })
})
