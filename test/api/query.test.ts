import { QueryResponse } from '@agent-server/schemas/query.ts'
import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { readChat } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { search } from '../support/knowledge.ts'
import { startServer } from '../support/server.ts'

const ISLANDS = ['Texel', 'Vlieland', 'Terschelling', 'Ameland', 'Borkum', 'Juist', 'Baltrum']
const CHEESE = {
  title: 'Cheese',
  text: 'A cheese ripens for months in a cellar.',
  url: 'https://example.org/cheese',
}

const server = await startServer()
for (const title of ISLANDS) {
  await server.ingest({ title, text: `The ferry to the island of ${title} leaves at noon.` })
}
const cheese = await server.ingest(CHEESE)

const query = (body: unknown) => server.request('/query', { body })

describe('POST /query', () => {
  it(
    'answers the query and its hits, each with its chunk and where that comes from',
    verifies(
      'endpoint.query',
      'endpoint.json',
      'query.query',
      'query.echo',
      'query.hits',
      'hit.id',
      'hit.score',
      'hit.text',
      'hit.title',
      'hits.more',
    ),
    async () => {
      const response = await query({ query: 'How long does cheese ripen?' })
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toMatch(/^application\/json/)
      expect(await response.json()).toEqual({
        query: 'How long does cheese ripen?',
        hits: [
          {
            ...CHEESE,
            id: expect.stringMatching(/./),
            score: expect.any(Number),
            documentId: cheese,
            start: 0,
            end: CHEESE.text.length,
          },
        ],
      })
    },
  )

  it(
    'gives a document without a title the empty title, and no url',
    verifies('hit.title'),
    async () => {
      await server.ingest({ text: 'Nameless gulls circle the quay.' })
      const [hit] = await search(server, 'nameless gulls')
      expect(hit).toMatchObject({ title: '' })
      expect(hit).not.toHaveProperty('url')
    },
  )

  it('returns five chunks at most without topK', verifies('query.top-k.default'), async () => {
    expect(await search(server, 'ferry to the island')).toHaveLength(5)
  })

  it.each([1, 2, 7, 100])(
    'returns at most topK chunks, here %d',
    verifies('query.top-k'),
    async (topK) => {
      const hits = await search(server, 'ferry to the island', topK)
      expect(hits).toHaveLength(Math.min(topK, ISLANDS.length))
    },
  )

  it('orders hits by score, best first', verifies('hits.order'), async () => {
    const hits = await search(server, 'ferry to Juist', 100)
    const scores = hits.map(({ score }) => score)
    expect(hits[0]?.title).toBe('Juist')
    expect(scores).toEqual(scores.toSorted((a, b) => b - a))
    expect(scores[0]).toBeGreaterThan(scores[1] ?? Infinity)
  })

  it('leaves out what scores lower than minScore', verifies('query.min-score'), async () => {
    const asked = { query: 'ferry to Juist', topK: 100 }
    const read = async (body: object) => QueryResponse.parse(await (await query(body)).json()).hits
    const all = await read(asked)
    const [best, second] = all
    expect(best?.score).toBe(1)
    for (const { score } of all) expect(score).toBeGreaterThan(0)
    expect(await read({ ...asked, minScore: 0 })).toEqual(all)
    expect(await read({ ...asked, minScore: second?.score })).toEqual(all)
    expect(await read({ ...asked, minScore: (second?.score ?? 1) + 0.01 })).toEqual([best])
    expect(await read({ query: 'ferry quagga', minScore: 0.51 })).toEqual([])
  })

  it('refuses a minScore out of its range, by name', verifies('query.min-score'), async () => {
    for (const minScore of [-0.01, 1.01, '0.5']) {
      const failure = await failureOf(await query({ query: 'ferry', minScore }))
      expect(failure).toMatchObject({ status: 400, code: 'invalid_request', param: 'minScore' })
    }
  })

  it('has a minScore in chat, too', verifies('query.min-score'), async () => {
    const messages = [{ role: 'user', content: 'When does the ferry to Juist leave?' }]
    const hitsOf = async (minScore: number) => {
      const response = await server.request('/chat', { body: { messages, minScore } })
      return (await readChat(response)).done?.hits.map(({ title }) => title)
    }
    expect((await hitsOf(0))?.length).toBeGreaterThan(1)
    expect(await hitsOf(0.9)).toEqual(['Juist'])
    for (const [path, body] of [
      ['/chat', { messages }],
      ['/v1/chat/completions', { model: 'agent', messages }],
      ['/v1/responses', { model: 'agent', input: 'When?' }],
      ['/api/chat', { model: 'agent', messages }],
    ] as const) {
      const response = await server.request(path, { body: { ...body, minScore: 2 } })
      expect(response.status).toBe(400)
      expect(await response.text()).toContain('minScore')
    }
  })

  it('finds a document from the moment that it is ready', verifies('documents.ready'), async () => {
    for (const word of ['quagga', 'dodo', 'thylacine']) {
      const id = await server.ingest({ text: `The ${word} is extinct.` })
      expect((await search(server, word)).map(({ documentId }) => documentId)).toEqual([id])
    }
  })

  it('shows the same passage of two documents once', verifies('hits.once'), async () => {
    const text = 'Marmots whistle when an eagle comes.'
    const ids = [await server.ingest({ text }), await server.ingest({ text })]
    const hits = await search(server, 'marmots', 100)
    expect(hits.map((hit) => hit.text)).toEqual([text])
    expect(ids).toContain(hits[0]?.documentId)
  })

  it(
    'shows once what two documents say in nearly the same words',
    verifies('hits.near-duplicates'),
    async () => {
      const text =
        'Dormice sleep from the first frost until the trees are green again, curled up in a nest of moss and bark below the roots, and wake only when it is warm enough for them to find their food in the crowns of the trees at night.'
      await server.ingest({ text })
      await server.ingest({ text: `${text.replace(',', ' –')}\n` })
      await server.ingest({ text: `${text} In the year 1904 one slept for 11 months.` })
      expect(await search(server, 'dormice', 100)).toHaveLength(2)
    },
  )

  it('answers no hits where no word of the query occurs', verifies('query.hits'), async () => {
    expect(await search(server, 'xylophone zeugma')).toEqual([])
  })

  it('answers no hits to a query without a word', verifies('query.hits'), async () => {
    for (const marks of ['?!', '🦉', '…']) expect(await search(server, marks)).toEqual([])
  })

  it.each([
    ['no query', {}, 'query'],
    ['an empty query', { query: '' }, 'query'],
    ['a query of white space', { query: ' \n ' }, 'query'],
    ['a query that is a number', { query: 5 }, 'query'],
    ['a query past its bound', { query: 'x'.repeat(10_001) }, 'query'],
    ['a topK of 0', { query: 'x', topK: 0 }, 'topK'],
    ['a topK of 101', { query: 'x', topK: 101 }, 'topK'],
    ['a negative topK', { query: 'x', topK: -1 }, 'topK'],
    ['a topK with a fraction', { query: 'x', topK: 1.5 }, 'topK'],
    ['a topK that is a string', { query: 'x', topK: '5' }, 'topK'],
    ['a topK that is huge', { query: 'x', topK: 1e308 }, 'topK'],
  ])(
    'refuses %s, naming the field',
    verifies('top-k.bounds', 'query.query', 'query.top-k', 'errors.field', 'input.types'),
    async (_case, body, param) => {
      expect(await failureOf(await query(body))).toMatchObject({
        status: 400,
        code: 'invalid_request',
        param,
        message: expect.stringContaining(param),
      })
    },
  )

  it(
    'accepts a topK at each bound, and a query at its bound',
    verifies('top-k.bounds'),
    async () => {
      for (const topK of [1, 100]) expect((await query({ query: 'x', topK })).status).toBe(200)
      expect((await query({ query: 'x'.repeat(10_000) })).status).toBe(200)
    },
  )

  it('names several fields that are wrong at once', verifies('errors.field'), async () => {
    const failure = await failureOf(await query({ query: 5, topK: 0 }))
    expect(failure.message).toMatch(/query: .*topK: /)
  })
})

it.each(['ppr9087', 'PPR_9087', 'ppr 9087'])(
  'A code is found as %s, however its document writes it',
  async (query) => {
    const server = await startServer()
    const id = await server.ingest({
      title: 'Forms',
      text: 'Leave is asked for with the form PPR-9087.',
    })
    await server.ingest({ title: 'Otters', text: 'Otters hold hands while they sleep.' })
    const { hits } = QueryResponse.parse(
      await (await server.request('/query', { body: { query } })).json(),
    )
    expect(hits[0]?.documentId).toBe(id)
  },
)
