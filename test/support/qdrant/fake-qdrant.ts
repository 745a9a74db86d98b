import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { closeAfterUse } from '../close-after-use.ts'
import { hasDescription, readDescription } from './description.ts'
import {
  type Answer,
  createFakeCalls,
  type FakeCalls,
  findCall,
  type Strict,
} from './fake-calls.ts'

/** What to do instead of answering. */
export type Misfortune =
  | { status: number; headers?: Record<string, string>; error?: string }
  /** No answer at all; an answer that breaks off; one that makes no sense. */
  | 'hang'
  | 'break'
  | 'nonsense'
  | undefined

export interface FakeRequest {
  /** `POST /collections/{collection_name}/points/query`. */
  call: string
  path: string
  query: URLSearchParams
  body: unknown
  headers: IncomingMessage['headers']
}

export interface FakeQdrant {
  readonly url: string
  readonly requests: readonly FakeRequest[]
  readonly store: FakeCalls
  /** Requests and answers that Qdrant's own description does not allow; a test that ends with any fails. */
  readonly mistakes: readonly string[]
  version: string
  /** The status that changes are answered with. */
  change: 'completed' | 'acknowledged'
  /** Where set, every request must present it. */
  apiKey: string | undefined
  /** Copies of each shard that are on nodes which are away: they count as copies that have not taken a change. */
  deadCopies: number
  /** What strict mode allows at most, where it is on. */
  strict: Strict | undefined
  /** Asked before each answer. */
  mishap: (request: FakeRequest) => Misfortune
  /** How long it takes to answer, in milliseconds. */
  delay: (request: FakeRequest) => number
  close(): Promise<void>
}

const describe = hasDescription ? readDescription() : undefined

/**
 * A fake Qdrant on 127.0.0.1: in memory, and no more than the calls that the index makes. Where Qdrant's own
 * description lies beside the project, it holds every request and every answer against it. Closes itself when
 * started inside a test. Several of them with one store are the nodes of a cluster.
 */
export async function startFakeQdrant(store = createFakeCalls()): Promise<FakeQdrant> {
  const requests: FakeRequest[] = []
  const mistakes: string[] = []

  const perform = (request: FakeRequest, name: string): Answer => {
    const described = describe?.(request.call)
    const mistake = described?.mistakes(request.query, request.body)
    if (mistake !== undefined) {
      mistakes.push(`${request.call} asked: ${mistake}`)
      return { status: 400, error: mistake }
    }
    const answer = store.perform(request.call, name, request.body, fake)
    const wrong = 'body' in answer ? described?.answerMistakes(answer.body) : undefined
    if (wrong !== undefined) mistakes.push(`${request.call} answered: ${wrong}`)
    return answer
  }

  const serve = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { request, name } = await read(incoming)
    requests.push(request)
    if (name === undefined) mistakes.push(`${request.call} is no call that the fake knows`)
    const misfortune = fake.mishap(request)
    if (misfortune !== undefined) return suffer(misfortune, response)
    if (fake.apiKey !== undefined && incoming.headers['api-key'] !== fake.apiKey) {
      return send(response, { status: 401, error: 'Must provide an API key' })
    }
    const isKnown = name !== undefined
    const wait = fake.delay(request)
    if (wait > 0) await pause(wait)
    send(response, isKnown ? perform(request, name) : { status: 404, error: 'unknown' })
  }

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch((error: unknown) => {
      mistakes.push(String(error))
      send(response, { status: 500, error: String(error) })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  const fake: FakeQdrant = {
    url: `http://127.0.0.1:${port}`,
    requests,
    mistakes,
    store,
    version: '1.19.1',
    change: 'completed',
    apiKey: undefined,
    deadCopies: 0,
    strict: undefined,
    mishap: () => undefined,
    delay: () => 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  closeAfterUse(fake.close)
  return fake
}

async function read(incoming: IncomingMessage) {
  const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://fake')
  const content = await text(incoming)
  const found = findCall(incoming.method ?? '', pathname)
  const request: FakeRequest = {
    call: found?.call ?? `${incoming.method} ${pathname}`,
    path: pathname,
    query: searchParams,
    body: content === '' ? undefined : JSON.parse(content),
    headers: incoming.headers,
  }
  return { request, name: found?.name }
}

function send(response: ServerResponse, answer: Answer): void {
  const status = 'status' in answer ? answer.status : 200
  const body = 'body' in answer ? answer.body : failure(answer.error)
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function failure(error: string) {
  return { time: 0, status: { error }, result: null }
}

function suffer(misfortune: NonNullable<Misfortune>, response: ServerResponse): void {
  if (misfortune === 'hang') return
  if (misfortune === 'nonsense') {
    response.end('{"result": {"points": "some"}}')
  } else if (misfortune === 'break') {
    response.writeHead(200, { 'content-length': '1000' }).write('{"result": {"poi')
    setImmediate(() => response.destroy())
  } else {
    const { status, headers, error = 'out of order' } = misfortune
    response.writeHead(status, headers).end(JSON.stringify(failure(error)))
  }
}
