import { beforeAll, describe, expect, it } from 'vitest'
import { failureOf } from '../support/failure.ts'
import { listDocuments } from '../support/knowledge.ts'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
  await server.ingest({ text: 'Owls hunt.', title: 'Owls', metadata: { year: 2020 } })
  await server.ingest({ text: 'Herons wait.', title: 'Herons', metadata: { year: 2021 } })
  await server.ingest({ text: 'Tawny owls call.', title: 'Tawny owls', metadata: { year: 2022 } })
  return server.close
})

const query = (parameters: Record<string, unknown>) => {
  const text = Object.entries(parameters).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  return `?${new URLSearchParams(Object.fromEntries(text))}`
}

describe('GET /documents', () => {
  it.each([
    [{ title: 'OWL' }, ['Tawny owls', 'Owls']],
    [{ title: 'owl', sort: 'title' }, ['Owls', 'Tawny owls']],
    [{ filter: { field: 'year', gte: 2021 } }, ['Tawny owls', 'Herons']],
    [{ filter: { field: 'year', gte: 2021 }, title: 'owl' }, ['Tawny owls']],
    [{ sort: '-characters', status: 'ready' }, ['Tawny owls', 'Herons', 'Owls']],
  ])('lists what %j asks for', async (parameters, titles) => {
    const { documents, total } = await listDocuments(server, query(parameters))
    expect(documents.map(({ title }) => title)).toEqual(titles)
    expect(total).toBeUndefined()
  })

  it('tells how many there are on all pages where it is asked to', async () => {
    const page = await listDocuments(server, query({ title: 'owl', limit: 1, total: true }))
    expect(page.documents).toHaveLength(1)
    expect(page.total).toBe(2)
    const next = { title: 'owl', limit: 1, cursor: page.nextCursor }
    expect((await listDocuments(server, query(next))).nextCursor).toBeUndefined()
  })

  it.each([
    ['a filter that is no JSON', { filter: '{' }, 'filter'],
    ['a filter that is none', { filter: { fields: 'x' } }, 'filter'],
    ['an unknown order', { sort: 'colour' }, 'sort'],
    ['a title of white space', { title: ' ' }, 'title'],
    ['a total that is neither true nor false', { total: 'yes' }, 'total'],
    ['a cursor past its bound', { cursor: 'x'.repeat(601) }, 'cursor'],
  ])('refuses %s, naming the field', async (_case, parameters, param) => {
    const failure = await failureOf(await server.request(`/documents${query(parameters)}`))
    expect(failure).toMatchObject({ status: 400, code: 'invalid_request', param })
  })
})
