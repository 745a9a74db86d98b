import { type ClientRequest, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { acceptForms, formParts, formRouting, MULTIPART } from '@agent-server/http/multipart.ts'
import { CallerLeft } from '@agent-server/http/shutdown.ts'
import type { FormPart } from '@agent-server/schemas/new-document.ts'
import Fastify, { type FastifyRequest } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'

const TYPE = 'multipart/form-data; boundary=edge'
const MOST = 1_000

const fieldOf = (name: string, value: string) =>
  `--edge\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const fileOf = (content: string, head = 'name="file"; filename="a.txt"') =>
  `--edge\r\ncontent-disposition: form-data; ${head}\r\ncontent-type: text/plain\r\n\r\n${content}\r\n`
const END = '--edge--\r\n'

type Handler = (message: FastifyRequest) => Promise<unknown>

/** A server whose one request is handled by `handle`; answers what came of it. */
async function receive(handle: Handler, send: (client: ClientRequest) => void, headers = {}) {
  const outcome = Promise.withResolvers<unknown>()
  const app = Fastify()
  await acceptForms(app)
  app.post('/', async (message) => {
    await handle(message).then(outcome.resolve, outcome.reject)
    return ''
  })
  onTestFinished(() => void app.server.closeAllConnections())
  onTestFinished(() => void app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const client = request({
    port,
    host: '127.0.0.1',
    method: 'POST',
    headers: { 'content-type': TYPE, ...headers },
  })
  client.on('error', () => undefined)
  client.on('response', (response) => response.resume())
  send(client)
  return outcome.promise
}

const readAll: Handler = async (message) => {
  const read: unknown[] = []
  for await (const part of formParts(message, MOST)) read.push(await toPlain(part))
  return read
}

async function toPlain(part: FormPart): Promise<unknown> {
  if (part.kind === 'field') return [part.name, part.value]
  const bytes = Buffer.concat(await Array.fromAsync(part.bytes))
  return [part.name, part.fileName, part.mediaType, bytes.toString()]
}

const whole = (body: string) => (client: ClientRequest) => void client.end(body)

describe('The parts of a form', () => {
  it('come in their order, files as they are read', async () => {
    const body = [fieldOf('a', '1'), fileOf('Some text'), fieldOf('b', 'ä\r\n2'), END].join('')
    expect(await receive(readAll, whole(body))).toEqual([
      ['a', '1'],
      ['file', 'a.txt', 'text/plain', 'Some text'],
      ['b', 'ä\r\n2'],
    ])
  })

  it('arrive complete, however the bytes are split', async () => {
    const body = [fieldOf('a', '1'), fileOf('Some\r\n--edg text'), fieldOf('b', '2'), END].join('')
    const slowly = async (client: ClientRequest) => {
      for (const character of body) {
        client.write(character)
        await new Promise((resolve) => setImmediate(resolve))
      }
      client.end()
    }
    expect(await receive(readAll, (client) => void slowly(client))).toHaveLength(3)
  })

  it('may be absent', async () => {
    expect(await receive(readAll, whole(END))).toEqual([])
  })

  it('need not be read to their end', async () => {
    const first: Handler = async (message) => {
      for await (const part of formParts(message, MOST)) return part.name
      return undefined
    }
    const body = [fieldOf('a', '1'), fileOf('x'.repeat(900)), END].join('')
    expect(await receive(first, whole(body))).toBe('a')
  })
})

describe('A form is refused', () => {
  it.each([
    ['whose file is too large', fileOf('x'.repeat(1_001)) + END, 'body_too_large', /1000 bytes/],
    ['with too many parts', fieldOf('a', '1').repeat(21) + END, 'invalid_request', /20 parts/],
    [
      'with a field too long',
      fieldOf('a', 'x'.repeat(65_537)) + END,
      'invalid_request',
      /too long/,
    ],
    ['that has no end', fieldOf('a', '1') + fileOf('Text'), 'invalid_request', /incomplete/],
    ['that ends within a file', fileOf('Text').trimEnd(), 'invalid_request', /incomplete/],
    ['of nonsense', 'nonsense', 'invalid_request', /invalid/],
  ])('%s', async (_case, body, code, message) => {
    const refused = receive(readAll, whole(body))
    await expect(refused).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
  })

  it('without a boundary', async () => {
    const headers = { 'content-type': 'multipart/form-data' }
    await expect(receive(readAll, whole('x'), headers)).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'The form has no boundary',
    })
  })

  it('before it is read, if its declared size is too large', async () => {
    const headers = { 'content-length': '3000000' }
    const begin = (client: ClientRequest) => client.flushHeaders()
    await expect(receive(readAll, begin, headers)).rejects.toMatchObject({
      code: 'body_too_large',
    })
  })
})

describe('A sender who hangs up', () => {
  it.each([
    ['within a file', fileOf('Half a te').trimEnd()],
    ['between parts', fieldOf('a', '1')],
    ['at once', ''],
  ])('%s is noticed', async (_when, beginning) => {
    const leave = (client: ClientRequest) => {
      client.write(beginning)
      client.flushHeaders()
      setTimeout(() => client.destroy(), 50)
    }
    await expect(receive(readAll, leave)).rejects.toBeInstanceOf(CallerLeft)
  })
})

const FORM = 'multipart/form-data; boundary=b'

async function openApp() {
  const app = Fastify({ routerOptions: { constraints: formRouting } })
  app.post('/both', async () => 'json')
  app.register(async (forms) => {
    forms.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null))
    forms.post('/both', { constraints: MULTIPART }, async () => 'form')
    forms.post('/forms', { constraints: MULTIPART }, async () => 'form')
  })
  app.post('/json', async () => 'json')
  await app.ready()
  return async (url: string, type: string | undefined, payload = '{}') => {
    const headers = type === undefined ? {} : { 'content-type': type }
    const { statusCode, body } = await app.inject({ method: 'POST', url, headers, payload })
    return statusCode === 200 ? body : statusCode
  }
}

describe('A path for JSON and forms', () => {
  it.each([
    ['a form', FORM, 'form'],
    ['a form in capitals', FORM.toUpperCase(), 'form'],
    ['JSON', 'application/json', 'json'],
    ['a type that only begins like one', 'multipart/form-database', 415],
    ['another kind of parts', 'multipart/mixed; boundary=b', 415],
  ])('takes %s to where it belongs', async (_what, type, answer) => {
    const post = await openApp()
    expect(await post('/both', type)).toBe(answer)
  })

  it('passes nothing to a route that reads no more', async () => {
    const post = await openApp()
    expect(await post('/both', undefined, '')).toBe('json')
  })
})

describe('A path for one of them', () => {
  it.each([
    ['/json', 'application/json', 'json'],
    ['/json', FORM, 415],
    ['/forms', FORM, 'form'],
    ['/forms', 'application/json', 404],
  ])('%s answers %s with %s', async (path, type, answer) => {
    const post = await openApp()
    expect(await post(path, type)).toBe(answer)
  })
})
