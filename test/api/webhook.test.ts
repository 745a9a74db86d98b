import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { verifies } from '../requirements.ts'
import { onlyLong } from '../support/long.ts'
import { startServer } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const KEY = Buffer.alloc(32, 7)
const SECRET = `whsec_${KEY.toString('base64')}`

interface Message {
  headers: Record<string, string | string[] | undefined>
  body: string
}

/** A receiver on 127.0.0.1 that takes what it is sent, or never answers. */
async function startReceiver(kind?: 'silent') {
  const messages: Message[] = []
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    messages.push({ headers: request.headers, body: await text(request) })
    if (kind !== 'silent') response.writeHead(204).end()
  }
  const server = createServer((request, response) => void receive(request, response))
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (typeof address !== 'object' || !address) throw new Error('The receiver has no port')
  return { messages, port: address.port }
}

const webhookAt = (port: number) => ({
  WEBHOOK_URL: `http://127.0.0.1:${port}/hook`,
  WEBHOOK_SECRET: SECRET,
  OUTBOUND_ALLOW: '127.0.0.1',
})

describe('A webhook', () => {
  it(
    'tells of each document that became ready, signed',
    verifies('webhook.ready', 'webhook.signed'),
    async () => {
      const { messages, port } = await startReceiver()
      const server = await startServer(webhookAt(port))
      const id = await server.ingest({ text: 'Herons wait.' })
      await expect.poll(() => messages.length).toBe(1)
      const [{ headers, body } = { headers: {}, body: '' }] = messages
      expect(JSON.parse(body)).toMatchObject({
        type: 'document.ready',
        data: { id, revision: 1, status: 'ready' },
      })
      const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
      const signature = createHmac('sha256', KEY).update(signed).digest('base64')
      expect(headers['webhook-signature']).toBe(`v1,${signature}`)
    },
  )

  it('tells after a restart of what ended before it', {
    ...verifies('webhook.durable'),
    ...onlyLong,
  }, async () => {
    const { messages, port } = await startReceiver()
    const DATA_DIR = await temporaryDirectory()
    const silent = await startReceiver('silent')
    const unheard = await startServer({ ...webhookAt(silent.port), DATA_DIR })
    const id = await unheard.ingest({ text: 'Owls hunt.' })
    await expect.poll(() => silent.messages.length).toBe(1)
    await unheard.close()
    const server = await startServer({ ...webhookAt(port), DATA_DIR })
    await expect.poll(() => messages.length).toBe(1)
    expect(JSON.parse(messages[0]?.body ?? '')).toMatchObject({ data: { id } })
    expect(messages[0]?.headers['webhook-id']).toBe(silent.messages[0]?.headers['webhook-id'])
    await server.close()
  })

  it(
    'goes to no address that is not public, and the start says so',
    verifies('webhook.guarded'),
    async () => {
      const { port } = await startReceiver()
      const { OUTBOUND_ALLOW: _allowed, ...environment } = webhookAt(port)
      await expect(startServer(environment)).rejects.toThrow(
        /^WEBHOOK_URL: 127\.0\.0\.1 .*OUTBOUND_ALLOW/,
      )
    },
  )
})
