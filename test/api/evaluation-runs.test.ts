import {
  EvaluationComparison,
  EvaluationReport,
  EvaluationRun,
  JudgedQuestionList,
} from '@agent-server/evaluation'
import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSqliteData } from '../../packages/stores/test/sqlite/store-data.ts'
import { endedEvaluation, evaluationsOf } from '../support/evaluations.ts'
import { failureOf } from '../support/failure.ts'
import { onlyLong } from '../support/long.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, requester, startServer, type TestServer } from '../support/server.ts'
import {
  chunk,
  DONE,
  errorReply,
  hangReply,
  streamReply,
  textReply,
} from '../support/upstream-replies.ts'

const RUNS = '/evaluation/runs'
const QUESTIONS = '/evaluation/questions'
const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
const owls = await server.ingest({ text: 'Owls hunt at night.', collection: 'birds' })
const larks = await server.ingest({ text: 'Larks sing in the morning.' })

const QUESTION = {
  id: 'a',
  question: 'When do owls hunt?',
  relevant: [{ documentId: owls }],
  facts: ['at night'],
}

beforeEach(() => upstream.always(textReply('They hunt at night [1].')))
afterEach(async () => {
  const listed = await (await server.request(QUESTIONS)).json()
  for (const { id } of JudgedQuestionList.parse(listed).questions) {
    await server.request(`${QUESTIONS}/${id}`, { method: 'DELETE' })
  }
})

const judge = (questions: object[], on: Pick<TestServer, 'request'> = server) =>
  on.request(`${QUESTIONS}/import`, { body: questions })
const begin = async (body: object, on: Pick<TestServer, 'request'> = server) => {
  const response = await on.request(RUNS, { body })
  const run = EvaluationRun.parse(await response.json())
  expect([response.status, response.headers.get('location')]).toEqual([202, `${RUNS}/${run.id}`])
  return run
}
const reportOf = async (id: string) =>
  EvaluationReport.parse(await (await server.request(`${RUNS}/${id}`)).json())
const finished = async (body: object) => {
  const { id } = await begin(body)
  expect(await endedEvaluation(server)).toMatchObject({ id, state: 'done' })
  return reportOf(id)
}

describe('An evaluation', () => {
  it('is refused where there is nothing to ask, or no model for it', async () => {
    const empty = await startServer()
    const refused = await failureOf(await empty.request(RUNS, { body: {} }))
    expect(refused).toMatchObject({ status: 400, code: 'invalid_request' })
    await judge([{ question: 'Who?', relevant: [{ documentId: 'owls' }] }], empty)
    const withAnswers = await empty.request(RUNS, { body: { answers: true } })
    expect(await failureOf(withAnswers)).toMatchObject({ status: 400, param: 'answers' })
    for (const [body, message] of [
      [{ judge: true }, 'requires `answers: true`'],
      [{ judge: true, answers: true }, 'CHAT_MODEL=extractive only quotes'],
      [{ effort: 'high' }, 'CHAT_MODEL=extractive only quotes'],
    ] as const) {
      const refused = await failureOf(await empty.request(RUNS, { body }))
      const param = Object.keys(body)[0]
      expect(refused).toMatchObject({
        status: 400,
        param,
        message: expect.stringContaining(message),
      })
    }
    expect(await evaluationsOf(empty)).toEqual([])
  })

  it('measures search and answers, and tells what differs from another one', onlyLong, async () => {
    await judge([
      QUESTION,
      { id: 'b', question: 'Owls?', relevant: [{ documentId: larks }], collection: 'birds' },
      { id: 'c', question: 'Who counts quaggas?', facts: [] },
    ])
    const first = await finished({ name: 'Good answers', answers: true })
    expect(first).toMatchObject({
      name: 'Good answers',
      answers: true,
      asked: 4,
      total: 4,
      measures: {
        search: { queries: 2, 'recall@10': 0.5 },
        answers: { answerable: 1, unanswerable: 1, right: 1, citationRecall: 1, abstained: 0 },
      },
      questions: {
        search: [
          { id: 'a', text: 'When do owls hunt?', values: { mrr: 1 } },
          { id: 'b', values: { mrr: 0 } },
        ],
        answers: [
          { id: 'a', answer: 'They hunt at night [1].', values: { right: 1, cited: 1 } },
          { id: 'c', answer: 'They hunt at night [?].', values: { abstained: 0 } },
        ],
      },
    })
    upstream.always(textReply('The documents do not say it.'))
    const second = await finished({ answers: true, mode: 'lexical' })
    expect(second).toMatchObject({ mode: 'lexical', measures: { answers: { right: 0 } } })
    const path = `/evaluation/comparison?before=${first.id}&now=${second.id}`
    const { before, now, rows } = EvaluationComparison.parse(
      await (await server.request(path)).json(),
    )
    expect([before.id, now.id]).toEqual([first.id, second.id])
    expect(rows).toMatchObject([
      { name: 'search', questions: [] },
      {
        name: 'answers',
        measures: { right: { before: 1, now: 0, difference: -1 } },
        questions: [
          {
            id: 'a',
            differs: { right: { before: 1, now: 0 }, cited: { before: 1, now: 0 } },
            answers: { before: 'They hunt at night [1].', now: 'The documents do not say it.' },
          },
          { id: 'c', differs: { abstained: { before: 0, now: 1 } } },
        ],
      },
    ])
    expect((await evaluationsOf(server)).map(({ id }) => id)).toEqual([second.id, first.id])
  })

  it('asks within the filter that it is given', async () => {
    await judge([{ id: 'a', question: 'When do owls hunt?', relevant: [{ documentId: owls }] }])
    const filter = { field: 'collection', eq: 'birds' }
    expect(await finished({ filter })).toMatchObject({ filter })
    const others = await finished({ filter: { not: filter } })
    expect(others.questions?.search?.[0]).toMatchObject({ id: 'a', values: { mrr: 0 } })
  })

  it('runs one at a time, and is cancelled', async () => {
    await judge([QUESTION])
    upstream.always(hangReply())
    const { id } = await begin({ answers: true })
    const second = await failureOf(await server.request(RUNS, { body: {} }))
    expect(second).toMatchObject({ status: 409, code: 'evaluation_running' })
    const path = `/evaluation/comparison?before=${id}&now=${id}`
    expect(await failureOf(await server.request(path))).toMatchObject({ param: 'before' })
    const cancelled = await server.request(`${RUNS}/${id}/cancel`, { method: 'POST' })
    expect(EvaluationRun.parse(await cancelled.json())).toMatchObject({ state: 'cancelled' })
    expect(await reportOf(id)).toMatchObject({ state: 'cancelled' })
    expect(await reportOf(id)).not.toHaveProperty('measures')
  })

  it('lets the chat model judge the answers where that is asked for', async () => {
    await judge([QUESTION])
    const verdict = 'The fact is there. {"right": true, "abstained": false}'
    upstream.script(textReply('Once the sun has set [1].'), textReply(verdict))
    const judged = await finished({ answers: true, judge: true })
    expect(judged).toMatchObject({ judge: true, measures: { answers: { right: 1 } } })
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain('Once the sun has set')
    upstream.script(textReply('Once the sun has set [1].'))
    expect(await finished({ answers: true })).toMatchObject({ measures: { answers: { right: 0 } } })
  })

  it('asks again where the model breaks off', async () => {
    await judge([QUESTION])
    upstream.script(streamReply(chunk({ content: 'They hunt ' }), { cut: true }))
    upstream.always(textReply('They hunt at night [1].'))
    expect(await finished({ answers: true })).toMatchObject({ measures: { answers: { right: 1 } } })
  })

  it('fails with the reason of the model', async () => {
    await judge([QUESTION])
    upstream.always(errorReply(400))
    const { id } = await begin({ answers: true })
    expect(await endedEvaluation(server)).toMatchObject({ id, state: 'failed', asked: 1, total: 2 })
    expect((await reportOf(id)).error).toMatch(/model/)
  })

  it('fails where its key is revoked meanwhile', async () => {
    await judge([QUESTION, { ...QUESTION, id: 'b' }])
    const made = { name: 'Operator', scopes: ['admin'] }
    const response = await server.request('/admin/keys', { body: made })
    const key = ApiKeyCreated.parse(await response.json())
    const asked = Promise.withResolvers<void>()
    upstream.always(
      streamReply({ until: asked.promise }, chunk({ content: 'At night [1].' }, 'stop'), DONE),
    )
    await begin({ answers: true }, { request: requester(server.url, key.secret) })
    await server.request(`/admin/keys/${key.id}`, { method: 'DELETE' })
    asked.resolve()
    expect(await endedEvaluation(server)).toMatchObject({ state: 'failed' })
  })

  it('needs a key that may administer the server', async () => {
    const made = { name: 'Reader', scopes: ['query', 'chat', 'ingest'] }
    const response = await server.request('/admin/keys', { body: made })
    const { secret } = ApiKeyCreated.parse(await response.json())
    const request = requester(server.url, secret)
    for (const refused of [
      await request(RUNS),
      await request(RUNS, { body: {} }),
      await request(`${RUNS}/unknown/cancel`, { method: 'POST' }),
      await request('/evaluation/comparison?before=a&now=b'),
    ]) {
      expect(await failureOf(refused)).toMatchObject({ code: 'insufficient_scope' })
    }
  })

  it('is marked as interrupted where its server stops', async () => {
    const { directory, open } = await createSqliteData()
    const stopping = await startServer({ ...modelAt(upstream), DATA_DIR: directory })
    await stopping.ingest({ text: 'Owls hunt at night.' })
    await judge([QUESTION], stopping)
    upstream.always(hangReply())
    const { id } = await begin({ answers: true }, stopping)
    await stopping.close()
    const store = await open()
    expect(await store.evaluations.find(id)).toMatchObject({ state: 'interrupted' })
    await store.close()
  })
})
