import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { ask } from '../support/chat-reader.ts'
import { askBy } from '../support/every-way.ts'
import { toolResults } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

const CITIES = ['Rome', 'Riga', 'Oslo']
const COUNT = 102

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
const documents = Array.from({ length: COUNT }, (_, n) => ({
  title: `Letter ${n}`,
  text: n % 50 === 1 ? 'The same old letter.' : `Letter number ${n} speaks of zebras.`,
  metadata: {
    city: CITIES[n % 3] ?? '',
    year: 2020 + (n % 4),
    day: new Date(Date.UTC(2026, n % 12, 1 + (n % 28))).toISOString().slice(0, 10),
  },
}))
await server.request('/documents/batch', { body: documents })
await server.ingest({ title: 'The last', text: 'Without metadata.' })

async function resultOf(
  name: string,
  input: object,
  more: Record<string, unknown> = {},
): Promise<string> {
  upstream.script(toolCallReply({ name, arguments: input }), textReply('Done.'))
  await ask(server, 'What is there?', more)
  return toolResults(upstream.requests.at(-1)).at(-1) ?? ''
}

describe('lookup_data', verifies('lookup.fields', 'lookup.exact'), () => {
  it('lists the fields that there are', async () => {
    expect((await resultOf('lookup_data', {})).split('\n')).toEqual([
      'The fields of the metadata:',
      `- city: string, in ${COUNT} documents, from Oslo to Rome`,
      `- day: string, in ${COUNT} documents, from 2026-01-01 to 2026-12-28`,
      `- year: number, in ${COUNT} documents, from 2020 to 2023`,
    ])
  })

  it.each([
    ['an exact value', { field: 'city', equals: 'Oslo' }, 34],
    ['a prefix', { field: 'city', prefix: 'R' }, 68],
    ['a range of numbers', { field: 'year', from: 2021, to: 2022 }, 51],
    ['a range of days', { field: 'day', from: '2026-03-01', to: '2026-03-31' }, 9],
    ['an exact number', { field: 'year', equals: 2023 }, 25],
  ])('finds documents by %s', async (_case, condition, count) => {
    const answer = await resultOf('lookup_data', { conditions: [condition], limit: 5 })
    expect(answer).toMatch(
      new RegExp(`^${count} documents fit, 5 follow\\.\n\\[\\d+\\] Letter \\d+: city=`),
    )
  })

  it('takes several conditions, and the filter of the request', async () => {
    const conditions = [
      { field: 'city', equals: 'Rome' },
      { field: 'year', from: 2022 },
    ]
    const answer = await resultOf('lookup_data', { conditions })
    expect(answer).toMatch(/^17 documents fit/)
    const filter = { field: 'year', eq: 2023 }
    expect(await resultOf('lookup_data', { conditions }, { filter })).toMatch(/^9 documents fit/)
  })

  it('says where nothing fits, and what is wrong with a condition', async () => {
    const nothing = [{ field: 'city', equals: 'Paris' }]
    expect(await resultOf('lookup_data', { conditions: nothing })).toBe('No document fits.')
    expect(await resultOf('lookup_data', { conditions: [{ field: 'city' }] })).toMatch(/^Invalid/)
  })
})

describe('analyse_corpus', () => {
  it.each([
    ['counts', { task: 'count' }, /^103 documents\.$/],
    ['counts some', { task: 'count', filter: { field: 'city', eq: 'Riga' } }, /^34 documents\.$/],
    [
      'lists',
      { task: 'list', limit: 2 },
      /^Listed 2 of 103 documents\.\n\[\d+\] The last\n\[\d+\] Letter/,
    ],
    [
      'counts values',
      { task: 'values', field: 'city' },
      /^102 of 103 documents have the field city\.\nOslo: 34\nRiga: 34\nRome: 34$/,
    ],
    [
      'makes a timeline',
      { task: 'timeline', field: 'day', per: 'month' },
      /\n2026-01: 9\n2026-02: 9\n/,
    ],
    [
      'counts terms',
      { task: 'terms', limit: 2 },
      /^Read 103 of 103 documents\.\nletter: 102 in 102 documents\n/,
    ],
    [
      'finds duplicates',
      { task: 'duplicates' },
      /^Read 103 of 103 documents: 1 groups of the same text\.\n-( =)?( \[\d+\] Letter \d+( =)?){3}$/,
    ],
  ])('%s, and says of how many', verifies('corpus.coverage'), async (_case, input, answer) => {
    expect(await resultOf('analyse_corpus', input)).toMatch(answer)
  })
})

describe('A question about every document', () => {
  it(
    'reads them all with the model, says so, and counts the tokens',
    verifies('corpus.coverage', 'corpus.question'),
    async () => {
      const input = { task: 'question', question: 'Which speak of zebras?' }
      upstream.always(textReply('A note on zebras.'))
      const before = upstream.requests.length
      const scripts = [toolCallReply({ name: 'analyse_corpus', arguments: input })]
      const { answer, extras } = await askBy('/chat', { server, upstream }, scripts)
      expect(answer).toBe('A note on zebras.')
      const [summary] = toolResults(upstream.requests.at(-1))
      expect(summary).toMatch(
        /^Read 103 of 103 documents\.\n\nA note on zebras\.\n\nDocuments with/,
      )
      const read = upstream.requests
        .slice(before)
        .map(({ body }) => JSON.stringify(body))
        .join()
      for (const n of [0, 50, 101]) expect(read).toContain(`Letter ${n}\\\\n`.replace('\\\\', '\\'))
      expect(extras.hits.length).toBeGreaterThan(100)
    },
  )
})
