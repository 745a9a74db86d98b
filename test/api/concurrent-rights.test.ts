import { Collection } from '@agent-server/schemas/collection.ts'
import { Document, DocumentCreated } from '@agent-server/schemas/document.ts'
import { KnownPerson } from '@agent-server/schemas/operator/people.ts'
import { describe, expect, it } from 'vitest'
import { Conversation } from '../../src/dialects/conversations/schema.ts'
import { failureOf } from '../support/failure.ts'
import { speakingFor } from '../support/people.ts'
import { startServer } from '../support/server.ts'

const server = await startServer()
const ada = speakingFor(server, { name: 'ada' })
const patch = (path: string, body: object) => ada(path, { method: 'PATCH', body })

/** Sends two changes at once; returns the fields with which one was refused. */
async function refusedOf(changes: readonly (() => Promise<Response>)[]) {
  const responses = await Promise.all(changes.map((send) => send()))
  expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 409])
  const refused = responses.find(({ status }) => status === 409)
  const { code, param } = (refused && (await failureOf(refused))) ?? {}
  return { code, param }
}
const CHANGED = { code: 'edit_conflict', param: 'expected.access' }

describe('Of two people who change at once who may do something, the second learns that the first did', () => {
  it('for a document, whether it had a list or not', async () => {
    const created = await ada('/documents', { body: { text: 'Pay.' } })
    const { id } = DocumentCreated.parse(await created.json())
    const path = `/documents/${id}`
    const change = (access: string[] | null, before: string[] | null) => () =>
      patch(path, { access, expected: { access: before } })
    const both = [change(['user:bob'], null), change(['user:zoe'], null)]
    expect(await refusedOf(both)).toEqual(CHANGED)
    const { access = [] } = Document.parse(await (await ada(path)).json())
    expect(access).toHaveLength(1)
    expect(await refusedOf([change([], access), change(null, access)])).toEqual(CHANGED)
    const stale = await patch(path, { metadata: { a: 1 }, expected: { access } })
    expect(stale.status).toBe(409)
    expect(Document.parse(await (await ada(path)).json()).metadata).not.toHaveProperty('a')
  })

  it('for each list of a collection, in whatever order it is sent', async () => {
    const lists = { access: ['public', 'group:b', 'group:a'], contributors: ['user:bob'] }
    await ada('/collections', { body: { name: 'handbook', ...lists } })
    const change = (access: string[]) => () =>
      patch('/collections/handbook', { access, expected: lists })
    expect(await refusedOf([change(['user:zoe']), change(['user:bob'])])).toEqual(CHANGED)
    const others = { contributors: [], expected: { owners: ['user:zoe'] } }
    expect(await failureOf(await patch('/collections/handbook', others))).toMatchObject({
      status: 409,
      param: 'expected.owners',
    })
    const kept = Collection.parse(await (await ada('/collections/handbook')).json())
    expect(kept.contributors).toEqual(['user:bob'])
  })

  it('for a conversation', async () => {
    const { id } = Conversation.parse(await (await ada('/v1/conversations', { body: {} })).json())
    const path = `/v1/conversations/${id}`
    const change = (access: string[], before: string[]) => () =>
      ada(path, { body: { access, expected: { access: before } } })
    expect(await refusedOf([change(['user:bob'], []), change(['user:zoe'], [])])).toEqual(CHANGED)
  })
})

it('Two limits of a person that are set at once are both kept', async () => {
  await ada('/documents')
  const path = '/admin/people/user:ada'
  for (let n = 1; n <= 10; n++) {
    const limits = [{ tokensPerDay: n }, { costPerDay: n / 2 }]
    const send = (body: object) => server.request(path, { method: 'PATCH', body })
    await Promise.all(limits.map(send))
    const person = KnownPerson.parse(await (await send({})).json())
    expect(person).toMatchObject({ tokensPerDay: n, costPerDay: n / 2 })
  }
})
