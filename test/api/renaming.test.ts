import { Document, DocumentCreated } from '@agent-server/schemas/document.ts'
import { describe, expect, it } from 'vitest'
import { failureOf } from '../support/failure.ts'
import { fixture, sendFile } from '../support/forms.ts'
import { search } from '../support/knowledge.ts'
import { startServer } from '../support/server.ts'

const server = await startServer()

const patch = (id: string, body: object) =>
  server.request(`/documents/${id}`, { method: 'PATCH', body })
const get = async (id: string) =>
  Document.parse(await (await server.request(`/documents/${id}`)).json())
const ready = (id: string, revision: number) =>
  expect.poll(() => get(id)).toMatchObject({ status: 'ready', revision })

describe('PATCH /documents/{id} with a title', () => {
  it('gives a text another title, by which it is found; all else stays', async () => {
    const facts = { url: 'https://example.org/a', metadata: { year: 2026 } }
    const text = 'They rest on one leg.\n\nAnd they eat frogs.'
    const id = await server.ingest({ title: 'Storks', text, ...facts })
    const answer = await patch(id, { title: 'Cranes', metadata: { draft: true } })
    expect(Document.parse(await answer.json())).toMatchObject({ id, title: 'Storks' })
    await ready(id, 2)
    const after = { title: 'Cranes', url: facts.url, metadata: { year: 2026, draft: true } }
    expect(await get(id)).toMatchObject(after)
    expect(await (await server.request(`/documents/${id}/text`)).text()).toBe(text)
    expect((await search(server, 'cranes')).map(({ documentId }) => documentId)).toContain(id)
    expect((await search(server, 'storks')).map(({ documentId }) => documentId)).not.toContain(id)
  })

  it('keeps the file, byte by byte', async () => {
    const bytes = fixture('owls.pdf')
    const sent = await sendFile(server, { name: 'owls.pdf', bytes })
    const { id } = DocumentCreated.parse(await sent.json())
    const { file } = await get(id)
    expect((await patch(id, { title: 'Night birds' })).status).toBe(200)
    await ready(id, 2)
    expect(await get(id)).toMatchObject({ title: 'Night birds', file })
    const kept = Buffer.from(await (await server.request(`/documents/${id}/file`)).arrayBuffer())
    expect(kept.equals(bytes)).toBe(true)
  })

  it('does nothing for the title that the document has', async () => {
    const id = await server.ingest({ title: 'Rooks', text: 'Rooks nest.' })
    expect(await (await patch(id, { title: 'Rooks' })).json()).toMatchObject({ status: 'ready' })
    expect(await get(id)).toMatchObject({ revision: 1 })
  })

  it('refuses a document that is not ready, and changes nothing of it', async () => {
    const sound = await sendFile(server, { name: 'sound.wav', bytes: 'RIFF' })
    const { id } = DocumentCreated.parse(await sound.json())
    const failure = await failureOf(await patch(id, { title: 'Sound', metadata: { year: 1 } }))
    expect(failure).toMatchObject({ status: 409, code: 'document_not_ready', param: 'title' })
    const { metadata, title } = await get(id)
    expect({ metadata, title }).toEqual({ metadata: undefined, title: 'sound.wav' })
  })

  it('refuses an empty title, and knows no document that is not there', async () => {
    const id = await server.ingest({ title: 'Jays', text: 'Jays hide acorns.' })
    expect(await failureOf(await patch(id, { title: ' ' }))).toMatchObject({
      status: 400,
      param: 'title',
    })
    expect(await failureOf(await patch('unknown', { title: 'T' }))).toMatchObject({ status: 404 })
  })
})

describe('PATCH /documents/{id} with what is expected', () => {
  it('changes nothing if somebody else was faster, and names the field', async () => {
    const id = await server.ingest({
      title: 'Kites',
      text: 'Kites soar.',
      metadata: { year: 2025 },
    })
    const change = (year: number, expected: object) =>
      patch(id, { metadata: { year }, expected: { metadata: expected } })
    const answers = await Promise.all([
      change(2026, { year: 2025, draft: null }),
      change(2027, { year: 2025, draft: null }),
    ])
    const statuses = answers.map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, 409])
    const late = answers[statuses.indexOf(409)]
    expect(late && (await failureOf(late))).toMatchObject({
      code: 'edit_conflict',
      param: 'expected.metadata.year',
    })
    expect((await get(id)).metadata).toEqual({ year: statuses[0] === 200 ? 2026 : 2027 })
    const renamed = await patch(id, { title: 'Hawks', expected: { title: 'Eagles' } })
    expect(await failureOf(renamed)).toMatchObject({
      code: 'edit_conflict',
      param: 'expected.title',
    })
    expect(await get(id)).toMatchObject({ title: 'Kites', revision: 1 })
  })

  it('lets one of two renamings at the same time through', async () => {
    const id = await server.ingest({ title: 'Terns', text: 'Terns dive.' })
    const answers = await Promise.all(
      ['Gulls', 'Skuas'].map((title) => patch(id, { title, expected: { title: 'Terns' } })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
  })
})
