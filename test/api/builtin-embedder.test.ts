import { Embeddings } from '@agent-server/compat'
import { Document } from '@agent-server/schemas/document.ts'
import { ErrorBody } from '@agent-server/schemas/error.ts'
import { QueryResponse } from '@agent-server/schemas/query.ts'
import { describe, expect, it } from 'vitest'
import { onlyLong } from '../support/long.ts'
import { startServer } from '../support/server.ts'

const CHINESE = '图书馆每天早上九点开门,晚上六点关门。星期天不开放。请携带您的借书证。'
const THAI = 'ห้องสมุดเปิดเวลาเก้าโมงเช้า และปิดเวลาหกโมงเย็น วันอาทิตย์ปิดทำการ'

const server = await startServer({ EMBEDDING_MODEL: 'builtin' })

const documentOf = async (id: string) =>
  Document.parse(await (await server.request(`/documents/${id}`)).json())
const search = async (query: string) =>
  QueryResponse.parse(await (await server.request('/query', { body: { query } })).json())

describe('A text that the built-in model cannot read', () => {
  it('has no vector, says so, and is found by its words and by no others', async () => {
    const chinese = await server.ingest({ title: '图书馆', text: CHINESE })
    const owls = await server.ingest({ title: 'Owls', text: 'Owls hunt at night.' })
    expect((await documentOf(owls)).warnings).toBeUndefined()
    expect((await documentOf(chinese)).warnings).toEqual([
      { code: 'not_embedded', message: expect.stringContaining('found by words alone') },
    ])
    expect((await search('晚上六点关门')).hits.map(({ title }) => title)).toContain('图书馆')
    expect((await search(THAI)).hits.map(({ title }) => title)).not.toContain('图书馆')
    expect((await search('birds of prey')).hits.map(({ title }) => title)).toEqual(['Owls'])
  })

  it('is refused as an embedding, by its place', async () => {
    const body = { input: ['Owls hunt at night.', THAI, 'Herons fish.'] }
    const response = await server.request('/v1/embeddings', { body })
    expect(response.status).toBe(400)
    const { error } = ErrorBody.parse(await response.json())
    expect(error).toMatchObject({ code: 'invalid_request', param: 'input.1' })
  })
})

it('A question of 720,000 characters is answered, and the search of nobody is degraded by it', async () => {
  const content = '( [ . '.repeat(120_000)
  const long = server.request('/chat', {
    body: { messages: [{ role: 'user', content }], stream: false },
  })
  const others = await Promise.all(['birds of prey', 'night', 'herons'].map(search))
  for (const { degraded } of others) expect(degraded).toBeUndefined()
  const answer = await long
  expect(answer.status).toBe(200)
  expect(await answer.text()).not.toContain('degraded')
  expect((await search('birds of prey')).degraded).toBeUndefined()
})

it('A text of 200,000 characters is embedded by its beginning', onlyLong, async () => {
  const input = 'Owls hunt at night. '.repeat(10_000).slice(0, 199_999)
  const response = await server.request('/v1/embeddings', { body: { input } })
  expect(Embeddings.parse(await response.json()).data).toHaveLength(1)
})
