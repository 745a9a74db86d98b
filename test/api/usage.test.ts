import { ApiKeyCreated, ApiKeyList } from '@agent-server/schemas/operator/api-key.ts'
import { KnownPerson } from '@agent-server/schemas/operator/people.ts'
import { OwnUsage, UsageReport } from '@agent-server/schemas/operator/usage.ts'
import { describe, expect, it } from 'vitest'
import { readPage, shellBlocks } from '../docs/pages.ts'
import { ask } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { speakingFor } from '../support/people.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, requester, startServer, TEST_KEY, type TestServer } from '../support/server.ts'
import { hasProgram, openShell } from '../support/shell.ts'
import { temporaryDirectory, writeAgentFile } from '../support/temporary-files.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

const PRICED = 'test-model'
const TODAY = () => new Date().toISOString().slice(0, 10)
const QUESTION = { messages: [{ role: 'user', content: 'Who hoots?' }], stream: false }
const search = { name: 'semantic_search', arguments: { query: 'owls' } }

/** A server whose model has a price: 2, 0.5 and 10 for a million tokens sent, cached and received. */
async function start(agent: object = {}) {
  const upstream = await startScriptedUpstream()
  const prices = { models: { [PRICED]: { input: 2, cachedInput: 0.5, output: 10 } } }
  const file = await writeAgentFile({ prices, ...agent })
  const server = await startServer(modelAt(upstream, { AGENT_CONFIG: file, CHAT_MODEL: PRICED }))
  const { request } = server
  return {
    upstream,
    server,
    report: async (query = '') => {
      const response = await request(`/admin/usage?${query}`)
      expect(response.status).toBe(200)
      return UsageReport.parse(await response.json())
    },
    key: async (wanted: object) => {
      const body = { name: 'A key', scopes: ['chat'], ...wanted }
      const created = ApiKeyCreated.parse(await (await request('/admin/keys', { body })).json())
      return { id: created.id, request: requester(server.url, created.secret) }
    },
    person: (name: string, groups: string[] = []) => speakingFor(server, { name, groups }),
    limit: async (id: string, limits: object) => {
      const path = `/admin/people/${encodeURIComponent(id)}`
      return request(path, { method: 'PATCH', body: limits })
    },
    own: async (by: TestServer['request']) => {
      return OwnUsage.parse(await (await by('/usage')).json())
    },
    answers: (prompt_tokens: number, completion_tokens: number, cached_tokens = 0) =>
      upstream.always(
        textReply('Owls.', {
          usage: { prompt_tokens, completion_tokens, prompt_tokens_details: { cached_tokens } },
        }),
      ),
  }
}

const statusOf = async (request: TestServer['request']) =>
  (await request('/v1/chat/completions', { body: QUESTION })).status

describe('Who used what', () => {
  it('is told by person, group, key, agent, model and day, with cached tokens at their price', async () => {
    const { answers, person, key, report, server } = await start({
      name: 'desk',
      agents: { clerk: { model: 'unpriced' } },
    })
    answers(1_000_000, 100_000, 600_000)
    const { id, request } = await key({ name: 'website' })
    expect(await statusOf(request)).toBe(200)
    expect(await statusOf(person('ada', ['staff', 'sales']))).toBe(200)
    const asked = { ...QUESTION, model: 'clerk' }
    const ada = person('ada', ['staff', 'sales'])
    expect((await ada('/v1/chat/completions', { body: asked })).status).toBe(200)
    const one = { calls: 1, inputTokens: 1_000_000, cachedTokens: 600_000, outputTokens: 100_000 }
    // 400,000 at 2, 600,000 at 0.5 and 100,000 at 10.
    const cost = 2.1
    const two = { ...one, calls: 2, inputTokens: 2e6, cachedTokens: 1.2e6, outputTokens: 2e5 }
    const all = { ...one, calls: 3, inputTokens: 3e6, cachedTokens: 1.8e6, outputTokens: 3e5 }
    const total = { ...all, cost: 2 * cost, unpricedCalls: 1 }
    const ofAda = { ...two, cost, unpricedCalls: 1 }
    expect(await report()).toEqual({
      currency: 'USD',
      rows: [{ day: TODAY(), ...total }],
      hasMore: false,
      total,
    })
    const rows = async (query: string) => (await report(query)).rows
    expect(await rows('by=person')).toEqual([
      { person: 'user:ada', ...ofAda },
      { ...one, cost },
    ])
    expect(await rows('by=group')).toEqual([
      { group: 'sales', ...ofAda },
      { group: 'staff', ...ofAda },
      { ...one, cost },
    ])
    expect(await rows(`by=key&key=${id}`)).toEqual([{ key: id, keyName: 'website', ...one, cost }])
    expect(await rows('by=agent,model')).toEqual([
      { agent: 'desk', model: PRICED, ...two, cost: 2 * cost },
      { agent: 'clerk', model: 'unpriced', ...one, unpricedCalls: 1 },
    ])
    expect((await report('by=model&person=user:ada&group=staff&limit=1')).hasMore).toBe(true)
    expect((await report('until=2020-01-01')).total).toMatchObject({ calls: 0 })
    const refused = await server.request('/admin/usage?since=2026-02-02&until=2026-02-01')
    expect(await failureOf(refused)).toMatchObject({ status: 400, param: 'since' })
    for (const query of ['by=owner', 'by=day,', 'since=yesterday', 'limit=0']) {
      expect((await server.request(`/admin/usage?${query}`)).status).toBe(400)
    }
  })

  it('can be exported as CSV, in which nothing is a formula', async () => {
    const { answers, key, server } = await start()
    answers(10, 5)
    const { id, request } = await key({ name: '=HYPERLINK("http://x", "a")' })
    await statusOf(request)
    const csv = await server.request('/admin/usage/export?by=day,key')
    expect(csv.headers.get('content-type')).toMatch(/^text\/csv/)
    expect(csv.headers.get('content-disposition')).toContain('usage.csv')
    expect((await csv.text()).split('\r\n')).toEqual([
      'day,key,keyName,calls,inputTokens,cachedTokens,outputTokens,cost (USD),unpricedCalls',
      `${TODAY()},${id},"'=HYPERLINK(""http://x"", ""a"")",1,10,0,5,0.00007,`,
      '',
    ])
    expect((await request('/admin/usage')).status).toBe(403)
  })

  it('includes what tools have asked of the model', async () => {
    const { upstream, report, person, server } = await start({ name: 'desk' })
    await server.ingest({ text: 'Owls hoot at night.', access: ['public'] })
    upstream.script(
      toolCallReply({
        name: 'analyse_corpus',
        arguments: { task: 'question', question: 'What of owls?' },
      }),
      textReply('A note.'),
      textReply('They hoot.'),
      textReply('They hoot.'),
    )
    expect(await statusOf(person('ada'))).toBe(200)
    expect(upstream.requests).toHaveLength(4)
    expect((await report('by=person,agent')).rows).toMatchObject([
      { person: 'user:ada', agent: 'desk', calls: 4 },
    ])
  })
})

describe('What a person may use in a day', () => {
  it('is what everybody may, or what they alone may, from the next call on', async () => {
    const { answers, person, limit, own } = await start({
      budgets: { people: { tokensPerDay: 50 } },
    })
    const [ada, bob] = [person('ada'), person('bob')]
    answers(40, 15)
    expect([await statusOf(ada), await statusOf(bob)]).toEqual([200, 200])
    const refused = await ada('/v1/chat/completions', { body: QUESTION })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await failureOf(refused)).toMatchObject({
      status: 429,
      code: 'rate_limited',
      type: 'rate_limit_error',
      message: 'You have used your 50 tokens for today; the limit is reset at midnight UTC',
    })
    const changed = await limit('user:ada', { tokensPerDay: 100 })
    expect(KnownPerson.parse(await changed.json())).toMatchObject({ tokensPerDay: 100 })
    expect([await statusOf(ada), await statusOf(bob)]).toEqual([200, 429])
    const limits = [{ of: 'person', id: 'user:ada', tokensPerDay: 100, tokensLeft: 0 }]
    expect(await own(ada)).toMatchObject({
      limits,
      today: { calls: 2, inputTokens: 80, outputTokens: 30 },
      days: [{ day: TODAY(), calls: 2 }],
    })
    expect(await statusOf(ada)).toBe(429)
    await limit('user:ada', { tokensPerDay: null, costPerDay: 1 })
    expect(await statusOf(ada)).toBe(429)
    expect(await own(bob)).toMatchObject({ limits: [{ tokensLeft: 0 }], today: { calls: 1 } })
    expect(await failureOf(await limit('user:nobody', {}))).toMatchObject({
      code: 'person_not_found',
    })
    expect(await failureOf(await limit('user:ada', { costPerDay: 0 }))).toMatchObject({
      status: 400,
      param: 'costPerDay',
    })
  })

  it('is that of their groups: each of them, or all together where it is shared', async () => {
    const { answers, person, own } = await start({
      budgets: {
        people: { tokensPerDay: 50 },
        groups: {
          students: { tokensPerDay: 10 },
          staff: { tokensPerDay: 200 },
          sales: { tokensPerDay: 100, shared: true },
        },
      },
    })
    answers(50, 10)
    const [student, clerk] = [person('sue', ['students']), person('cleo', ['students', 'staff'])]
    const sellers = [person('sam', ['sales', 'staff']), person('sid', ['sales', 'staff'])] as const
    const statuses = async (request: TestServer['request'], times: number) => {
      const all: number[] = []
      while (all.length < times) all.push(await statusOf(request))
      return all
    }
    expect(await statuses(student, 2)).toEqual([200, 429])
    expect(await statuses(clerk, 3)).toEqual([200, 200, 200])
    expect(await statuses(sellers[0], 1)).toEqual([200])
    expect(await statuses(sellers[1], 2)).toEqual([200, 429])
    const refused = await sellers[0]('/v1/chat/completions', { body: QUESTION })
    expect((await failureOf(refused)).message).toBe(
      'The group “sales” has used its 100 tokens for today; the limit is reset at midnight UTC',
    )
    expect((await own(sellers[0])).limits).toEqual([
      { of: 'person', id: 'user:sam', tokensPerDay: 200, tokensLeft: 140 },
      { of: 'group', id: 'sales', tokensPerDay: 100, tokensLeft: 0 },
    ])
  })

  it('changes with the configuration, without a restart', async () => {
    const { answers, person, server } = await start()
    answers(40, 15)
    const ada = person('ada')
    expect([await statusOf(ada), await statusOf(ada)]).toEqual([200, 200])
    const { digest: basedOn } = Object(await (await server.request('/admin/agent')).json())
    const text = JSON.stringify({ budgets: { people: { tokensPerDay: 100 } } })
    const body = { text, basedOn }
    expect((await server.request('/admin/agent', { method: 'PUT', body })).status).toBe(200)
    expect(await statusOf(ada)).toBe(429)
  })

  it.each([
    ['tokens', { tokensPerDay: 1_000 }],
    ['money', { costPerDay: 0.0015 }],
  ])(
    'is not exceeded by many questions at once, by more than a call, in %s',
    async (_unit, limits) => {
      const { answers, person, report } = await start({ budgets: { people: limits } })
      answers(580, 8)
      const ada = person('ada')
      const statuses = await Promise.all(Array.from({ length: 60 }, () => statusOf(ada)))
      expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(2)
      expect(statuses).toContain(200)
      expect(new Set(statuses)).toEqual(new Set([200, 429]))
      expect((await report()).total.inputTokens).toBeLessThanOrEqual(2 * 580)
    },
  )
})

it('Questions at once wait for one another where what is left suffices for all', async () => {
  const { answers, person } = await start({ budgets: { people: { tokensPerDay: 8_000 } } })
  answers(40, 10)
  const ada = person('ada')
  const statuses = await Promise.all(Array.from({ length: 5 }, () => statusOf(ada)))
  expect(statuses).toEqual([200, 200, 200, 200, 200])
})

describe('A limit in money', () => {
  it('of a key ends what it may use, at the prices', async () => {
    const { answers, key, own, server } = await start()
    answers(1_000_000, 0)
    const { id, request } = await key({ costPerDay: 3 })
    expect([await statusOf(request), await statusOf(request)]).toEqual([200, 200])
    const refused = await request('/v1/chat/completions', { body: QUESTION })
    expect(await failureOf(refused)).toMatchObject({
      code: 'rate_limited',
      message: 'This key has used its 3 USD for today; the limit is reset at midnight UTC',
    })
    expect(await own(request)).toMatchObject({
      currency: 'USD',
      limits: [{ of: 'key', id, costPerDay: 3, costLeft: 0 }],
      today: { calls: 2, cost: 4 },
    })
    const { keys } = ApiKeyList.parse(await (await server.request('/admin/keys')).json())
    expect(keys).toMatchObject([{ id, costPerDay: 3, tokensToday: 2_000_000 }])
  })

  it('does not hold for a model without a price, whose costs are not told', async () => {
    const { answers, key, own } = await start({ prices: { currency: 'EUR', models: {} } })
    answers(1_000_000, 0)
    const { request } = await key({ costPerDay: 0.01 })
    expect([await statusOf(request), await statusOf(request)]).toEqual([200, 200])
    const { today, currency } = await own(request)
    expect(currency).toBe('EUR')
    expect(today).toEqual({
      calls: 2,
      inputTokens: 2_000_000,
      cachedTokens: 0,
      outputTokens: 0,
      unpricedCalls: 2,
    })
  })
})

describe('A run that reaches the limit of the day', () => {
  const WORDS = 'You have used your 1,000 tokens for today; the limit is reset at midnight UTC.'
  const calling = toolCallReply(search, { usage: { prompt_tokens: 2_000, completion_tokens: 10 } })

  it('stops before the next call of the model, and says why', async () => {
    const { upstream, person, server, own } = await start({
      budgets: { people: { tokensPerDay: 1_000 } },
    })
    upstream.always(calling)
    const ada = { ...server, request: person('ada') }
    const { answer, done } = await ask(ada, 'Who hoots?')
    expect(answer).toBe(WORDS)
    expect(done).toMatchObject({ finishReason: 'usage_limit' })
    expect(upstream.requests).toHaveLength(1)
    expect((await own(ada.request)).today).toMatchObject({ calls: 1, inputTokens: 2_000 })
    const refused = await ada.request('/chat', {
      body: { messages: [{ role: 'user', content: 'Who?' }] },
    })
    expect(await failureOf(refused)).toMatchObject({ status: 429, code: 'rate_limited' })
  })

  it.each([
    ['/v1/chat/completions', QUESTION, { choices: [{ finish_reason: 'length' }] }],
    [
      '/v1/responses',
      { input: 'Who hoots?' },
      { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    ],
    [
      '/v1/messages',
      { ...QUESTION, model: 'agent', max_tokens: 99 },
      { stop_reason: 'max_tokens' },
    ],
    ['/api/chat', { ...QUESTION, model: 'agent' }, { done_reason: 'length' }],
  ])(
    'ends in %s as one that was cut off, then the next is refused in its form',
    async (path, body, end) => {
      const { upstream, person } = await start({ budgets: { people: { tokensPerDay: 1_000 } } })
      upstream.always(calling)
      const ada = person('ada')
      const ended = await ada(path, { body })
      expect(ended.status).toBe(200)
      const answer: unknown = await ended.json()
      expect(answer).toMatchObject(end)
      expect(JSON.stringify(answer)).toContain(WORDS)
      expect(upstream.requests).toHaveLength(1)
      const refused = await ada(path, { body })
      expect(refused.status).toBe(429)
      expect(JSON.stringify(await refused.json())).toContain(WORDS.slice(0, -1))
    },
  )
})

describe('What a key sees of itself', () => {
  it('is all that its limit counts, and nothing of other keys', async () => {
    const { answers, key, own, server } = await start()
    answers(40, 10)
    const [one, other] = [await key({ tokensPerDay: 1_000 }), await key({})]
    expect([await statusOf(one.request), await statusOf(other.request)]).toEqual([200, 200])
    expect((await own(one.request)).today).toMatchObject({ calls: 1, inputTokens: 40 })
    expect((await own(server.request)).today).toMatchObject({ calls: 0 })
    expect(await statusOf(server.request)).toBe(200)
    expect((await own(server.request)).today).toMatchObject({ calls: 1 })
  })
})

describe('What is kept of a person', () => {
  it('is forgotten with them, and what they have cost is not', async () => {
    const { answers, person, report, server } = await start()
    answers(1_000_000, 0)
    await statusOf(person('ada', ['staff']))
    const path = `/admin/people/${encodeURIComponent('user:ada')}`
    expect((await server.request(path, { method: 'DELETE' })).status).toBe(200)
    const { rows } = await report('by=person,group')
    expect(rows).toMatchObject([{ person: 'removed', inputTokens: 1_000_000, cost: 2 }])
    expect(rows[0]).not.toHaveProperty('group')
  })
})

it.skipIf(!hasProgram('curl'))('The export of the guide works as it is (needs curl)', async () => {
  const { server, answers, person } = await start()
  answers(10, 5)
  await statusOf(person('ada'))
  const shell = openShell(await temporaryDirectory())
  await shell.paste(`export URL=${server.url} KEY=${TEST_KEY}`)
  const blocks = shellBlocks(readPage('docs/guides/keys.md'))
  const command = blocks.find((block) => block.includes('/admin/usage/export')) ?? ''
  expect(await shell.paste(command)).toContain(`${TODAY()},user:ada,,${PRICED},1,10,0,5`)
})
