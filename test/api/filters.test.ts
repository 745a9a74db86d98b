import { DocumentBatchResult } from '@agent-server/schemas/document-batch.ts'
import { QueryResponse } from '@agent-server/schemas/query.ts'
import { describe, expect, it } from 'vitest'
import { Completion } from '../../src/dialects/completions/answer-schema.ts'
import { verifies } from '../requirements.ts'
import { readChat } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, settledDocument, startServer } from '../support/server.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

const COUNT = 400
/** Of every hundred documents, one. */
const RARE = 100

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
const batch = Array.from({ length: COUNT }, (_, n) => ({
  // The rare ones rank last: an owl among much else.
  text: `An owl. ${n % RARE === 0 ? `Much else is said of ${n} here, at length. `.repeat(9) : `Note ${n}.`}`,
  metadata: { n, rare: n % RARE === 0, shelf: `shelf-${n % 4}` },
}))
const response = await server.request('/documents/batch', { body: batch })
for (const result of DocumentBatchResult.parse(await response.json()).results) {
  await settledDocument(server.request, 'id' in result ? result.id : '')
}

const query = async (filter: unknown, topK = 100) => {
  const response = await server.request('/query', { body: { query: 'owl', topK, filter } })
  const { hits } = QueryResponse.parse(await response.json())
  return hits.map(({ metadata }) => metadata ?? {})
}
const numbersOf = async (filter: unknown) =>
  (await query(filter)).map(({ n }) => Number(n)).toSorted((a, b) => a - b)

describe('filter in POST /query', () => {
  it(
    'finds all that a selective filter takes, however far down they rank',
    verifies('filters.top-k'),
    async () => {
      expect(await query({ field: 'rare', eq: true }, 4)).toHaveLength(4)
      expect(await numbersOf({ field: 'rare', eq: true })).toEqual([0, 100, 200, 300])
      expect(await query({ field: 'rare', eq: false }, 100)).toHaveLength(100)
    },
  )

  it.each<[string, unknown, number[]]>([
    ['equality', { field: 'n', eq: 7 }, [7]],
    ['one of several', { field: 'n', in: [5, 399, 1_000, '6'] }, [5, 399]],
    ['a range of numbers', { field: 'n', gte: 10, lt: 13 }, [10, 11, 12]],
    [
      'a range of strings',
      {
        and: [
          { field: 'shelf', gt: 'shelf-2' },
          { field: 'n', lte: 7 },
        ],
      },
      [3, 7],
    ],
    [
      'either',
      {
        or: [
          { field: 'n', eq: 1 },
          { field: 'n', eq: 2 },
        ],
      },
      [1, 2],
    ],
    ['neither', { and: [{ field: 'n', lt: 4 }, { not: { field: 'n', in: [1, 2] } }] }, [0, 3]],
    ['a field that nobody has', { field: 'unknown', eq: 1 }, []],
    ['another kind', { field: 'n', eq: '7' }, []],
  ])(
    'takes %s',
    verifies('filters.operators', 'documents.metadata'),
    async (_what, filter, numbers) => {
      expect(await numbersOf(filter)).toEqual(numbers)
    },
  )

  const tooMany = Array.from({ length: 21 }, () => ({ field: 'n', eq: 1 }))
  let deep: unknown = { field: 'n', eq: 1 }
  for (let depth = 0; depth < 20; depth++) deep = { not: deep }
  it.each<[string, unknown]>([
    ['a string', 'n = 7'],
    ['an empty object', {}],
    ['a field alone', { field: 'n' }],
    ['an unknown operator', { field: 'n', equals: 7 }],
    ['two shapes in one', { field: 'n', eq: 7, or: [{ field: 'n', eq: 8 }] }],
    ['a list for a value', { field: 'n', eq: [7] }],
    ['a range of booleans', { field: 'rare', gt: false }],
    ['an empty list', { and: [] }],
    ['too many parts', { or: tooMany }],
    ['what is too deep', deep],
    ['a field that cannot be', { field: 'n"; DROP TABLE documents', eq: 7 }],
  ])('refuses %s', verifies('filters.bounds', 'errors.field'), async (_what, filter) => {
    const response = await server.request('/query', { body: { query: 'owl', filter } })
    const failure = await failureOf(response)
    expect(failure).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(failure.param).toMatch(/^filter/)
  })
})

describe('filter in POST /chat', () => {
  it(
    'holds for the context and for what the model searches itself',
    verifies('filters.chat'),
    async () => {
      const search = toolCallReply({ name: 'semantic_search', arguments: { query: 'owl note' } })
      upstream.script(search, textReply('An owl [1].'))
      const response = await server.request('/chat', {
        body: {
          messages: [{ role: 'user', content: 'owl' }],
          topK: 10,
          filter: { field: 'n', in: [17, 100] },
        },
      })
      const { done } = await readChat(response)
      expect(done?.hits.map(({ metadata }) => metadata?.n).toSorted()).toEqual([100, 17])
    },
  )
})

describe('filter in POST /v1/chat/completions', verifies('filters.completions'), () => {
  const complete = (filter: unknown) =>
    server.request('/v1/chat/completions', {
      body: { messages: [{ role: 'user', content: 'owl' }], stream: false, topK: 10, filter },
    })

  it('holds for the context', async () => {
    upstream.script(textReply('An owl [1].'))
    const response = await complete({ field: 'n', in: [17, 100] })
    const { agent } = Completion.parse(await response.json())
    expect(agent.hits.map(({ metadata }) => metadata?.n).toSorted()).toEqual([100, 17])
  })

  it('is refused where it is malformed', async () => {
    expect(await failureOf(await complete({ field: 'n' }))).toMatchObject({
      status: 400,
      param: 'filter',
    })
  })
})

describe('metadata of a document', () => {
  it.each<[string, unknown, RegExp]>([
    ['a list', ['a'], /^metadata$/],
    ['a nested object', { a: { b: 1 } }, /^metadata\.a$/],
    ['null', { a: null }, /^metadata\.a$/],
    ['a name with a blank', { 'a b': 1 }, /^metadata/],
    ['a long name', { ['x'.repeat(65)]: 1 }, /^metadata/],
    ['a long value', { a: 'x'.repeat(501) }, /^metadata\.a$/],
    [
      'many fields',
      Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`f${n}`, n])),
      /^metadata$/,
    ],
  ])(
    'cannot be %s',
    verifies('documents.metadata', 'errors.field'),
    async (_what, metadata, param) => {
      const failure = await failureOf(
        await server.request('/documents', { body: { text: 'x', metadata } }),
      )
      expect(failure).toMatchObject({ status: 400, param: expect.stringMatching(param) })
    },
  )
})

it('A title and metadata are found however their accents were typed', async () => {
  const body = {
    title: 'Mu\u0308llerstra\u00dfe',
    text: 'The pool opens at eight.',
    metadata: { town: 'Ko\u0308ln' },
  }
  const sent = await server.request('/documents/pool?wait=30', { method: 'PUT', body })
  expect(sent.ok).toBe(true)
  const filter = { field: 'town', eq: 'K\u00f6ln' }
  const { hits } = QueryResponse.parse(
    await (await server.request('/query', { body: { query: 'pool', filter } })).json(),
  )
  expect(hits.map(({ documentId }) => documentId)).toEqual(['pool'])
  for (const title of ['M\u00fcllerstra\u00dfe', 'mu\u0308llerstra']) {
    const list = await server.request(`/documents?title=${encodeURIComponent(title)}`)
    expect(await list.text()).toContain('"pool"')
  }
})
