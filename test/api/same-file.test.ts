import { hash } from 'node:crypto'
import { Document, DocumentCreated, DocumentList } from '@agent-server/schemas/document.ts'
import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { describe, expect, it } from 'vitest'
import { failureOf } from '../support/failure.ts'
import { sendFile } from '../support/forms.ts'
import { startServer } from '../support/server.ts'

const server = await startServer()
const bytes = 'Owls hunt at night.'
const SHA256 = hash('sha256', bytes)

const send = async (name: string, content = bytes) =>
  DocumentCreated.parse(await (await sendFile(server, { name, bytes: content })).json())
const list = async (query: string) => {
  const answer = await server.request(`/documents?${query}`)
  return DocumentList.parse(await answer.json()).documents.map(({ id }) => id)
}

describe('A file that is already there', () => {
  it('is stored, and the answer names the document that has it', async () => {
    const first = await send('owls.txt')
    expect(first.sameFile).toBeUndefined()
    const second = await send('copy.md')
    expect(second).toMatchObject({ status: 'ready', sameFile: first.id })
    expect((await send('other.txt', 'Herons wait.')).sameFile).toBeUndefined()
    const { file } = Document.parse(await (await server.request(`/documents/${second.id}`)).json())
    expect(file).toMatchObject({ name: 'copy.md', sha256: SHA256 })
    expect(await list(`sha256=${SHA256}`)).toEqual([second.id, first.id])
    expect(await list(`sha256=${SHA256}&mediaType=text/markdown`)).toEqual([second.id])
    expect(await list('mediaType=text/*&sort=createdAt&limit=1')).toEqual([first.id])
    await server.request(`/documents/${first.id}`, { method: 'DELETE' })
    expect((await send('again.txt')).sameFile).toBe(second.id)
  })

  it('is not betrayed to a key of another collection', async () => {
    await send('secret.txt', 'Nobody knows.')
    const made = await server.request('/admin/keys', {
      body: { name: 'guest', scopes: ['ingest'], collections: ['guests'] },
    })
    const { secret } = ApiKeyCreated.parse(await made.json())
    const form = new FormData()
    form.append('file', new File(['Nobody knows.'], 'guess.txt'))
    const headers = { authorization: `Bearer ${secret}` }
    const answer = await fetch(`${server.url}/documents`, { method: 'POST', body: form, headers })
    expect(answer.status).toBe(202)
    expect(Object(await answer.json())).not.toHaveProperty('sameFile')
  })

  it.each([
    ['sha256=ABC', 'sha256'],
    ['mediaType=pdf', 'mediaType'],
    ['mediaType=*/*', 'mediaType'],
  ])('is not asked for by %s', async (query, param) => {
    const answer = await server.request(`/documents?${query}`)
    expect(await failureOf(answer)).toMatchObject({ status: 400, code: 'invalid_request', param })
  })
})
