import { UsageReport } from '@agent-server/schemas/operator/usage.ts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { speakingFor } from '../../support/people.ts'
import { startFakeQdrant } from '../../support/qdrant/fake-qdrant.ts'
import { startScriptedUpstream } from '../../support/scripted-upstream.ts'
import { modelAt, startServer } from '../../support/server.ts'
import { writeAgentFile } from '../../support/temporary-files.ts'
import { textReply } from '../../support/upstream-replies.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

const QUESTION = { messages: [{ role: 'user', content: 'Who hoots?' }], stream: false }

describe.skipIf(!hasPostgres)('Limits at two servers on one database (needs PostgreSQL)', () => {
  it.each([
    ['a person, in tokens', { people: { tokensPerDay: 1_000 } }],
    ['a person, in money', { people: { costPerDay: 0.0015 } }],
    ['a group, in money', { groups: { sales: { costPerDay: 0.0015, shared: true } } }],
  ])('are those of both together: of %s', async (_case, budgets) => {
    const data = await createPostgresData()
    onTestFinished(() => data.remove())
    const { url: QDRANT_URL } = await startFakeQdrant()
    const upstream = await startScriptedUpstream()
    const usage = { prompt_tokens: 580, completion_tokens: 8 }
    upstream.always(textReply('Owls.', { usage }))
    const prices = { models: { priced: { input: 2, output: 10 } } }
    const AGENT_CONFIG = await writeAgentFile({ prices, budgets })
    const shared = modelAt(upstream, {
      DATABASE_URL: data.url,
      QDRANT_URL,
      AGENT_CONFIG,
      CHAT_MODEL: 'priced',
    })
    const servers = [await startServer(shared), await startServer(shared)] as const
    const asking = Array.from({ length: 60 }, async (_, n) => {
      const person = { name: 'groups' in budgets ? `p${n % 3}` : 'ada', groups: ['sales'] }
      const request = speakingFor(servers[n % 2 === 0 ? 0 : 1], person)
      return (await request('/v1/chat/completions', { body: QUESTION })).status
    })
    const statuses = await Promise.all(asking)
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(2)
    const report = await servers[1].request('/admin/usage?by=model')
    const { total, rows } = UsageReport.parse(await report.json())
    expect(total.inputTokens).toBe(580 * statuses.filter((status) => status === 200).length)
    expect(rows).toMatchObject([{ model: 'priced', cost: total.cost }])
  })
})
