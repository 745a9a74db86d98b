import { expect, it } from 'vitest'
import {
  type AgentServer,
  AuthenticationError,
  NotFoundError,
} from '../../packages/client/src/agent-server.ts'

/** All that goes over the wire in a way of its own, wherever the server is. Its chat model is `extractive`; nothing is left behind. */
export function itServesTheWholeClient(
  open: (more?: { apiKey: string }) => Promise<AgentServer>,
): void {
  it('creates, replaces, splits, finds and deletes documents', async () => {
    const client = await open()
    const { documents } = client
    const { id, status } = await documents.create(
      { title: 'Owls', text: 'Owls hunt at night.', metadata: { kind: 'bird' } },
      { wait: 20 },
    )
    expect(status).toBe('ready')
    expect(await documents.get(id)).toMatchObject({ id, title: 'Owls', revision: 1 })
    await documents.replace('herons', { text: 'Herons wait in shallow water.' }, { wait: 20 })
    await documents.replace('herons', { text: 'Herons fish.' }, { wait: 20 })
    expect(await documents.get('herons')).toMatchObject({ revision: 2 })
    expect(await Array.fromAsync(documents.chunks('herons'))).toMatchObject([
      { text: 'Herons fish.' },
    ])
    const filter = { field: 'kind', eq: 'bird' }
    const { hits } = await client.query({ query: 'hunt fish', filter })
    expect(hits.map(({ documentId }) => documentId)).toEqual([id])
    for (const each of [id, 'herons']) expect(await documents.delete(each)).toBeUndefined()
    await expect(documents.get(id)).rejects.toThrow(NotFoundError)
  })

  it('takes lines as they come, and lists page by page', async () => {
    const { documents } = await open()
    const lines = Array.from({ length: 5 }, (_, index) => ({ id: `d${index}`, text: 'An owl.' }))
    await documents.batch(lines)
    const ids = await Array.fromAsync(documents.list({ limit: 2 }), ({ id }) => id)
    expect(ids).toEqual(expect.arrayContaining(lines.map(({ id }) => id)))
    for (const { id } of lines) await documents.delete(id)
  })

  it('keeps files, and gives back every byte', async () => {
    const { documents } = await open()
    const file = new File(['Herons fish by day.'], 'herons.txt')
    const { id } = await documents.upload(file, { wait: 20 })
    expect(await (await documents.file(id)).text()).toBe('Herons fish by day.')
    await documents.delete(id)
  })

  it('streams answers with what they are from', async () => {
    const client = await open()
    const { id } = await client.documents.create({ text: 'Owls hunt at night.' }, { wait: 20 })
    const stream = client.chat({ messages: [{ role: 'user', content: 'When do owls hunt?' }] })
    const types = await Array.fromAsync(stream, ({ type }) => type)
    expect(types).toContain('text-delta')
    expect(types.at(-1)).toBe('done')
    expect(await stream.result()).toMatchObject({
      text: expect.stringContaining('Owls hunt at night. [1]'),
      hits: [{ documentId: id }],
    })
    await client.documents.delete(id)
  })

  it('says why it refuses', async () => {
    const client = await open()
    await expect(client.query({ query: '' })).rejects.toMatchObject({ param: 'query' })
    await expect(client.documents.get('none')).rejects.toThrow(NotFoundError)
    const stranger = await open({ apiKey: 'a-key-that-is-wrong' })
    await expect(stranger.agent.get()).rejects.toThrow(AuthenticationError)
  })
}
