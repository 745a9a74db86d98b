import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { describe, expect, it } from 'vitest'
import { sendFile } from '../support/forms.ts'
import { requester, startServer } from '../support/server.ts'

const HIDDEN = 'hidden-one'

const server = await startServer()
await server.request(`/documents/${HIDDEN}?wait=20`, {
  method: 'PUT',
  body: { title: 'Quagga', text: 'The quagga of owls.', collection: 'green' },
})
const key = { name: 'Red', scopes: ['query', 'ingest'], collections: ['red', 'blue'] }
const created = await server.request('/admin/keys', { body: key })
const { secret } = ApiKeyCreated.parse(await created.json())
const red = { request: requester(server.url, secret) }

describe('a key with collections', () => {
  it('chooses ids that others have as it chooses free ones', async () => {
    const put = async (id: string, text: string) => {
      const body = { text, collection: 'red' }
      const sent = await red.request(`/documents/${id}?wait=20`, { method: 'PUT', body })
      return [sent.status, sent.headers.get('location'), await sent.json()]
    }
    for (const id of [HIDDEN, 'free-one']) {
      const stored = { id: `red~${id}`, status: 'ready' }
      expect(await put(id, 'A newt.')).toEqual([200, `/documents/red~${id}`, stored])
      expect(await put(id, 'Another newt.')).toEqual([200, `/documents/red~${id}`, stored])
      for (const named of [id, `red~${id}`]) {
        const path = `/documents/${named}`
        expect(await (await red.request(path)).json()).toMatchObject({
          id: `red~${id}`,
          revision: 2,
        })
        expect(await (await red.request(`${path}/text`)).text()).toBe('Another newt.')
      }
      const listed = await red.request('/documents/batch', {
        body: [{ id, text: 'A third newt.', collection: 'blue' }],
      })
      expect(await listed.json()).toMatchObject({ results: [{ id: `red~${id}` }] })
      const patched = await red.request(`/documents/${id}`, {
        method: 'PATCH',
        body: { metadata: { seen: true } },
      })
      expect(patched.status).toBe(200)
      expect((await red.request(`/documents/${id}`, { method: 'DELETE' })).status).toBe(204)
      expect((await red.request(`/documents/${id}`)).status).toBe(404)
    }
    expect(await (await server.request(`/documents/${HIDDEN}`)).json()).toMatchObject({
      title: 'Quagga',
      revision: 1,
    })
  })

  it('sends and downloads a file under an id that others have', async () => {
    const file = { name: 'a.txt', bytes: 'A newt in a file.' }
    const sent = await sendFile(
      server,
      { ...file, before: { collection: 'red' } },
      {
        method: 'PUT',
        path: `/documents/${HIDDEN}?wait=30`,
        headers: { authorization: `Bearer ${secret}` },
      },
    )
    expect(await sent.json()).toMatchObject({ id: `red~${HIDDEN}` })
    const read = await red.request(`/documents/${HIDDEN}/file`)
    expect(await read.text()).toBe(file.bytes)
    expect((await red.request(`/v1/files/${HIDDEN}`, { method: 'DELETE' })).status).toBe(200)
  })
})
