import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { qdrantIndexAt, qdrantOptionsAt } from '../../packages/index-qdrant/test/qdrant-index.ts'
import { addTo, keysFor } from '../../packages/search/test/contracts/chunk-index.fixture.ts'
import { readText } from '../deploy/deployment-files.ts'
import {
  type FakeQdrant,
  type FakeRequest,
  startFakeQdrant,
} from '../support/qdrant/fake-qdrant.ts'
import { freePort } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const NGINX = process.env.TEST_NGINX ?? 'nginx'
const said = spawnSync(NGINX, ['-v']).stderr?.toString() ?? ''
const [, ...numbers] = /nginx\/(\d+)\.(\d+)\.(\d+)/.exec(said) ?? []
const [major = 0, minor = 0, patch = 0] = numbers.map(Number)
/** Asks for names again while it runs; nginx before it refuses the word. */
const RESOLVES = major * 1e6 + minor * 1e3 + patch >= 1_027_003

/** What the server waits for a query; it gives each attempt a part of it. */
const QUERY_MS = 10_000
/** Longer than the proxy waits for an answer to a search. */
const SLOW_MS = 4_000
/** What readiness waits for. */
const CHECK_MS = 2_000
const isQuery = ({ call }: FakeRequest) => call.endsWith('/points/query')
const isWrite = ({ call }: FakeRequest) => call.startsWith('PUT ') && call.endsWith('/points')

/** The very file, with the addresses of this machine in it; answers what the servers and their clients ask. */
async function startProxy(
  addresses: Record<string, string>,
): Promise<{ qdrant: string; agent: string }> {
  const directory = await temporaryDirectory()
  const [agent, qdrant, up] = await Promise.all([freePort(), freePort(), freePort()])
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(directory, name)};`,
  )
  const replaced: [string | RegExp, string][] = [
    ['/run/nginx.pid', join(directory, 'pid')],
    ['http {', `http {\n${places.join('\n')}`],
    ['listen 3000;', `listen 127.0.0.1:${agent};`],
    ['listen 6333;', `listen 127.0.0.1:${qdrant};`],
    ['listen 127.0.0.1:8080;', `listen 127.0.0.1:${up};`],
    ...Object.entries(addresses),
    ...(RESOLVES ? [] : [[/ resolve /g, ' '] as [RegExp, string]]),
  ]
  let text = readText('deploy/nginx/nginx.conf')
  for (const [from, to] of replaced) {
    expect(text.search(from), `${from} stands in it`).not.toBe(-1)
    text = text.replace(from, to)
  }
  const file = join(directory, 'nginx.conf')
  await writeFile(file, text)
  const parameters = ['-p', directory, '-e', 'stderr', '-c', file, '-g', 'daemon off;']
  const child = spawn(NGINX, parameters, { stdio: 'ignore' })
  onTestFinished(async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  })
  await vi.waitFor(
    async () => expect((await fetch(`http://127.0.0.1:${up}/up`)).status).toBe(204),
    { timeout: 20_000, interval: 50 },
  )
  return { qdrant: `http://127.0.0.1:${qdrant}`, agent: `http://127.0.0.1:${agent}` }
}

const NOBODY = '127.0.0.1:1'
const SERVERS = { 'agent-server-1:3000': NOBODY, 'agent-server-2:3000': NOBODY }
const NODES = ['qdrant-1:6333', 'qdrant-2:6333', 'qdrant-3:6333']

/** Three nodes of one store, and an index that reaches them through the proxy. */
async function startCluster() {
  const first = await startFakeQdrant()
  const nodes = [first, await startFakeQdrant(first.store), await startFakeQdrant(first.store)]
  const addresses = NODES.map((name, i): [string, string] => [name, hostOf(nodes[i])])
  const { qdrant } = await startProxy({ ...SERVERS, ...Object.fromEntries(addresses) })
  const address = { ...qdrantOptionsAt(qdrant).address, deadlineMs: QUERY_MS }
  const index = qdrantIndexAt(qdrant, { address })
  await index.open()
  return { index, nodes, url: qdrant }
}

function hostOf(node: FakeQdrant | undefined): string {
  return new URL(node?.url ?? '').host
}

const asked = (nodes: readonly FakeQdrant[], what: (request: FakeRequest) => boolean) =>
  nodes.map(({ requests }) => requests.filter(what).length)

async function startHttp(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}

describe.skipIf(said === '')('The proxy of docker-compose.cluster.yml (needs nginx)', () => {
  it('passes over a node that hangs: every search is answered, and soon none waits for it', async () => {
    const { index, nodes } = await startCluster()
    await addTo(index, { 1: ['wing'], 2: ['tail'] })
    const hung = nodes[1]
    if (hung) hung.mishap = (request) => (isQuery(request) ? 'hang' : undefined)
    for (let i = 0; i < 40; i++) expect(await keysFor(index, ['wing'])).toEqual([1])
    // Two that failed, and those that look whether it is well again: where none counts as failed, it is half of all.
    const [, waited = 0] = asked(nodes, isQuery)
    expect(waited).toBeGreaterThan(0)
    expect(waited).toBeLessThan(15)
  })

  it('passes over a node that hangs for every other read, too', async () => {
    const { index, nodes, url } = await startCluster()
    await addTo(index, { 1: ['wing'], 2: ['tail'] })
    const hung = nodes[1]
    if (hung) hung.mishap = () => 'hang'
    const signal = AbortSignal.timeout(10_000)
    for (const path of ['/aliases', '/collections', '/collections/test-terms', '/']) {
      for (let i = 0; i < NODES.length; i++) {
        expect((await fetch(url + path, { signal })).status).toBe(200)
      }
      await index.check(AbortSignal.timeout(CHECK_MS))
    }
    expect([...(await index.keys())]).toEqual([1, 2])
  })

  it('goes on with the others when a node is dead', async () => {
    const { index, nodes } = await startCluster()
    await addTo(index, { 1: ['wing'] })
    await nodes[2]?.close()
    for (let i = 0; i < 12; i++) expect(await keysFor(index, ['wing'])).toEqual([1])
    await addTo(index, { 2: ['wing'] })
    expect(await keysFor(index, ['wing'])).toEqual([1, 2])
  })

  it('lets a change take longer than a search, and makes it once', async () => {
    const { index, nodes } = await startCluster()
    for (const node of nodes) node.delay = (request) => (isWrite(request) ? SLOW_MS : 0)
    await addTo(index, { 1: ['wing'] })
    expect(asked(nodes, isWrite).reduce((sum, each) => sum + each)).toBe(1)
    expect(await keysFor(index, ['wing'])).toEqual([1])
  })

  it('hands on a stream as it comes, from the server that is up', async () => {
    const opened = Promise.withResolvers<ServerResponse>()
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: first\n\n')
      opened.resolve(response)
    })
    const host = await startHttp(server)
    const nodes = Object.fromEntries(NODES.map((name) => [name, NOBODY]))
    const { agent } = await startProxy({ ...SERVERS, ...nodes, 'agent-server-2:3000': host })
    const { body } = await fetch(`${agent}/chat`, { method: 'POST', body: '{}' })
    const reader = body?.getReader()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: first\n\n')
    ;(await opened.promise).end('data: last\n\n')
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: last\n\n')
  })
})
