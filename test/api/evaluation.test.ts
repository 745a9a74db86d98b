import { JudgedQuestion, JudgedQuestionList } from '@agent-server/evaluation'
import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { failureOf } from '../support/failure.ts'
import { requester, startServer, TEST_KEY } from '../support/server.ts'

const PATH = '/evaluation/questions'
const server = await startServer()

const listed = async () =>
  JudgedQuestionList.parse(await (await server.request(PATH)).json()).questions
const add = async (body: object) =>
  JudgedQuestion.parse(await (await server.request(PATH, { body })).json())
const remove = (id: string) => server.request(`${PATH}/${id}`, { method: 'DELETE' })
const put = (id: string, body: object) => server.request(`${PATH}/${id}`, { method: 'PUT', body })
const importLines = (lines: string) =>
  fetch(`${server.url}${PATH}/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/x-ndjson' },
    body: lines,
  })

afterEach(async () => {
  for (const { id } of await listed()) await remove(id)
})

describe('Judged questions', () => {
  it('are added, replaced under their id, listed and deleted', async () => {
    const added = await add({
      question: 'When do owls hunt?',
      relevant: [{ documentId: 'owls' }, { documentId: 'birds', grade: 2 }],
      facts: ['at night'],
      kind: 'everyday',
      collection: 'birds',
    })
    expect(added).toMatchObject({
      question: 'When do owls hunt?',
      relevant: [
        { documentId: 'owls', grade: 1 },
        { documentId: 'birds', grade: 2 },
      ],
      facts: ['at night'],
      kind: 'everyday',
      collection: 'birds',
    })
    const second = { question: 'Who counts owls?', facts: [] }
    const chosen = JudgedQuestion.parse(await (await put('own-id', second)).json())
    expect(chosen).toMatchObject({ id: 'own-id', ...second, relevant: [] })
    await put(added.id, { question: 'When?', relevant: [{ documentId: 'owls', page: 3 }] })
    expect(await listed()).toMatchObject([
      { id: added.id, question: 'When?', relevant: [{ documentId: 'owls', page: 3, grade: 1 }] },
      { id: 'own-id' },
    ])
    expect((await listed())[0]).not.toHaveProperty('facts')
    expect((await remove(added.id)).status).toBe(204)
    expect(await failureOf(await remove(added.id))).toMatchObject({
      status: 404,
      code: 'question_not_found',
      param: 'id',
    })
    expect((await listed()).map(({ id }) => id)).toEqual(['own-id'])
  })

  it('are exported as lines, and imported again as they were', async () => {
    await add({ question: 'When do owls hunt?', relevant: [{ documentId: 'owls' }] })
    await add({ question: 'Who counts owls?', facts: [] })
    const before = await listed()
    const exported = await server.request(`${PATH}/export`)
    expect(exported.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    const lines = await exported.text()
    for (const { id } of before) await remove(id)
    expect((await importLines(lines)).status).toBe(200)
    const withoutTimes = (all: JudgedQuestion[]) =>
      all.map(({ createdAt, updatedAt, ...question }) => question)
    expect(withoutTimes(await listed())).toEqual(withoutTimes(before))
    // Again, in place of those with the same ids; as a list, too.
    await importLines(lines)
    const list = [{ question: 'A third?', facts: ['x'] }, before[0]]
    const imported = await server.request(`${PATH}/import`, { body: list })
    expect(JudgedQuestionList.parse(await imported.json()).questions).toHaveLength(2)
    expect((await listed()).map(({ question }) => question)).toEqual([
      'When do owls hunt?',
      'Who counts owls?',
      'A third?',
    ])
  })

  it('are imported all or none, and the refusal names the line and its field', async () => {
    const good = JSON.stringify({ question: 'Good?', facts: [] })
    for (const [lines, param] of [
      [`${good}\n{"question":`, '1'],
      [`${good}\n\n{"question":""}`, '1.question'],
      [`${good}\n{"question":"No document?"}`, '1.relevant'],
      [`{"id":"a","question":"A?","facts":[]}\n{"id":"a","question":"B?","facts":[]}`, '1.id'],
    ] as const) {
      expect(await failureOf(await importLines(lines))).toMatchObject({ status: 400, param })
    }
    const many = Array.from({ length: 1_000 }, () => good).join('\n')
    await add({ question: 'First?', facts: [] })
    expect(await failureOf(await importLines(many))).toMatchObject({
      status: 409,
      code: 'too_many_questions',
    })
    expect(await listed()).toMatchObject([{ question: 'First?' }])
  })

  it.each([
    [{}, 'question'],
    [{ question: 'Q?' }, 'relevant'],
    [{ question: 'Q?', relevant: [{ documentId: 'a' }], facts: [] }, 'facts'],
    [{ question: 'Q?', relevant: [{ documentId: 'a' }, { documentId: 'b', page: 1 }] }, 'relevant'],
    [{ question: 'Q?', relevant: [{ documentId: 'a', grade: 0 }] }, 'relevant.0.grade'],
    [{ question: 'Q?', facts: [' '] }, 'facts.0'],
    [{ question: 'x'.repeat(10_001), facts: [] }, 'question'],
  ])('are refused where they judge nothing: %j', async (body, param) => {
    expect(await failureOf(await server.request(PATH, { body }))).toMatchObject({
      status: 400,
      param,
    })
    expect(await listed()).toEqual([])
  })

  it('need a key that may administer the server', async () => {
    const body = { name: 'Reader', scopes: ['query', 'chat', 'ingest'] }
    const key = ApiKeyCreated.parse(await (await server.request('/admin/keys', { body })).json())
    const request = requester(server.url, key.secret)
    for (const path of [PATH, `${PATH}/export`]) {
      expect(await failureOf(await request(path))).toMatchObject({ code: 'insufficient_scope' })
    }
  })
})
