// @module-tag long
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { type ContractOperation, operationsOf, readContract } from '../support/contract.ts'
import { CALLS, OF_THE_SERVER, pathOf } from '../support/fairness/calls.ts'
import { fillFairWorld, type Holder } from '../support/fairness/world.ts'
import { isLong } from '../support/long.ts'
import { openConnection } from '../support/raw-connection.ts'
import { requester } from '../support/server.ts'
import { startServerProcess } from '../support/server-process.ts'

const CONNECTIONS = 64
/** Until all of them wait for something. */
const BEGUN_MS = 400
/** Twice what it is on a machine with nothing else to do. */
const SOON_MS = 4_000
/** Where a document is taken in, or a sandbox started. */
const JOB_MS = 20_000
const JOBS = [
  'createDocument',
  'putDocument',
  'createFile',
  'oikbUpload',
  'verifySandbox',
  'trySandbox',
]
/** Other work of the machine is no part of it: the quickest of so many counts. */
const TRIES = 4
/** What took longest before requests of one key took turns. */
const SHORT = ['query', 'mcp', 'getArtifact']

const server = await startServerProcess({ INGEST_QUEUE_LIMIT: '20000' })
const { greedy, modest } = await fillFairWorld(server)
const all = operationsOf(await readContract(server))
  .filter(({ operationId = '' }) => !OF_THE_SERVER.includes(operationId))
  // What they remove, others ask for.
  .toSorted((a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'))
const named = (names: readonly string[]) =>
  all.filter(({ operationId = '' }) => names.includes(operationId))
const [query] = named(['query'])

async function send(
  { secret, has }: Holder,
  operation: ContractOperation,
  signal = AbortSignal.timeout(60_000),
): Promise<number> {
  const { method, operationId = '', requestBody } = operation
  const { path = pathOf(operation, has), upload, body, headers } = CALLS[operationId]?.(has) ?? {}
  const response =
    upload === undefined
      ? await requester(server.url, secret)(path, {
          method,
          signal,
          body: body ?? (requestBody && {}),
          ...(headers && { headers }),
        })
      : await fetch(`${server.url}${path}`, {
          method,
          signal,
          body: formOf(upload),
          headers: { authorization: `Bearer ${secret}` },
        })
  await response.arrayBuffer()
  return response.status
}

function formOf(upload: string): FormData {
  const form = new FormData()
  form.append('purpose', 'assistants')
  form.append('file', new Blob([upload]), 'notes.md')
  return form
}

/** How long the modest one waits for an operation: the quickest of some times. Throws if it is refused. */
async function waitOf(operation: ContractOperation, mostMs: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let time = 0; time < TRIES && least > mostMs; time += 1) {
    const began = performance.now()
    const status = await send(modest, operation)
    if (status === 429 || status >= 500) return Number.POSITIVE_INFINITY
    least = Math.min(least, performance.now() - began)
  }
  return least
}

/** All connections of the greedy one ask for the operation again and again, until the returned function is called. */
function ask(operation: ContractOperation): () => Promise<unknown> {
  const end = new AbortController()
  const loops = Array.from({ length: CONNECTIONS }, async () => {
    while (!end.signal.aborted) {
      const status = await send(greedy, operation, end.signal).catch(() => 0)
      if (status === 429 || status === 0) await pause(5)
    }
  })
  return () => {
    end.abort()
    return Promise.all(loops)
  }
}

/** What of an operation and of a search the modest one waits too long for while the greedy one asks for it. */
async function faultsOf(operation: ContractOperation): Promise<string[]> {
  const { operationId = '' } = operation
  const isRefusedAnyway = (await send(modest, operation)) >= 500
  const stop = ask(operation)
  await pause(BEGUN_MS)
  onTestFinished(() => void stop())
  const mostMs = JOBS.includes(operationId) ? JOB_MS : SOON_MS
  const own = isRefusedAnyway ? 0 : await waitOf(operation, mostMs)
  const search = query ? await waitOf(query, SOON_MS) : 0
  await stop()
  return [
    ...(own > mostMs ? [`${operationId}: ${own.toFixed(0)} ms`] : []),
    ...(search > SOON_MS ? [`a search beside ${operationId}: ${search.toFixed(0)} ms`] : []),
  ]
}

it.each(isLong ? all : named(SHORT))(
  'A key with 64 connections holds up nobody: $operationId',
  { timeout: 120_000 },
  async (operation) => {
    expect(await faultsOf(operation)).toEqual([])
  },
)

it('asks for every operation that does not change the server itself', () => {
  expect(named(SHORT)).toHaveLength(SHORT.length)
  expect(named([...Object.keys(CALLS)])).toHaveLength(Object.keys(CALLS).length)
})

it('A key that reads no answer keeps nobody from theirs', {
  timeout: 60_000,
}, async () => {
  const connections = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => openConnection(server)),
  )
  onTestFinished(() => {
    for (const { vanish } of connections) vanish()
  })
  const head = `GET /artifacts/${greedy.has.artifact} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${greedy.secret}\r\n\r\n`
  for (const { socket, send } of connections) {
    socket.pause()
    send(head)
  }
  for (const operation of named(['getArtifact', 'query'])) {
    expect(await waitOf(operation, SOON_MS)).toBeLessThan(SOON_MS)
  }
})
