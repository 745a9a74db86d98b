import { type Limiter, limitersByName } from '@agent-server/lib/limiter.ts'
import type { NewApiKey } from '@agent-server/schemas/operator/api-key.ts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ask } from '../support/chat-reader.ts'
import { long, onlyLong, someOf } from '../support/long.ts'
import { modelRequest, toolResults } from '../support/model-request.ts'
import { openConnection } from '../support/raw-connection.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, requester, startServer, type TestServer } from '../support/server.ts'
import { sourceFiles } from '../support/source-tree.ts'
import { writeAgentFile } from '../support/temporary-files.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

const AGENT = { sandbox: { kind: 'embedded', sessions: 3, limits: { seconds: 60 } } }
/** For another's smallest request, and for one that runs a job: 10 seconds, on a machine that does nothing else. */
const SOON_MS = 2_000
const JOB_MS = 20_000

/** What the model calls for a question. */
const CALLS: Record<string, Parameters<typeof toolCallReply>[0]> = {
  'Sleep.': { name: 'run_python', arguments: { code: 'import time; time.sleep(50)' } },
  'Compute.': { name: 'run_python', arguments: { code: '6 * 7' } },
  'Join.': {
    name: 'query_table',
    arguments: { sql: 'SELECT count(*) FROM towns, range(100_000_000_000) WHERE range % 7 = 3' },
  },
  'Count.': { name: 'query_table', arguments: { sql: 'SELECT count(*) AS n FROM towns' } },
}

const upstream = await startScriptedUpstream()
upstream.always((request) => {
  const last = modelRequest(request).messages.at(-1)
  const [, call] =
    Object.entries(CALLS).find(
      ([question]) => last?.role === 'user' && last.content?.includes(question),
    ) ?? []
  const reply = call ? toolCallReply(call) : textReply('Done.')
  return typeof reply === 'function' ? reply(request) : reply
})
const server = await startServer(
  modelAt(upstream, { AGENT_CONFIG: await writeAgentFile(AGENT), FETCH_URLS: 'on' }),
)
await server.ingest({ title: 'towns.csv', text: 'town\nBergen\nOslo\nTromsø\n' })

/** The server as the holder of a new key sees it. */
async function keyWith(...scopes: NewApiKey['scopes']): Promise<TestServer & { secret: string }> {
  const created = await server.request('/admin/keys', { body: { name: 'A key', scopes } })
  const { secret } = (await created.json()) as { secret: string }
  return { ...server, secret, request: requester(server.url, secret) }
}

const [greedy, modest] = [await keyWith('query', 'chat'), await keyWith('query', 'chat')]

/** Takes all that one owner may have, and says how to give it back. */
function starve(limiter: Limiter, owner: string): () => void {
  const leaves: (() => void)[] = []
  const weight = Math.max(1, Math.floor(limiter.capacity / 1_000))
  for (let leave = limiter.take(owner, weight); leave; leave = limiter.take(owner, weight)) {
    leaves.push(leave)
  }
  return () => {
    for (const leave of leaves) leave()
  }
}

/** Each is about one file, one conversation or one question, or is work that nobody waits for. */
const OF_THE_SERVER = `
src/agent/agent-host.ts
src/agent/tools/map-reduce.ts
src/documents/contexts/ask-patiently.ts
src/documents/ingestion/preparer.ts
src/documents/watch/apply-changes.ts
src/operator/admin/edited-file.ts`
  .trim()
  .split('\n')

/** Limiters that begin with work that this server does not do, and bound what one question or nobody waits for. */
const LATER = [
  'agent swaps',
  'background calls of the model',
  'built-in embedder',
  'documents about programs',
  'parts of a corpus',
  'watched folders',
]
/** Each merges work of its own kind that has no owner: finished documents, and their segments. */
const QUEUES_OF_THE_SERVER = [
  'src/documents/ingestion/preparer.ts',
  'src/documents/ingestion/publish.ts',
]
/** What answers wrote about themselves, of which the last is lost with a line of the log, and the connections that requests in turn use. */
const OTHER_BOUNDS = [
  'src/operator/ops/runs.ts',
  'src/operator/usage/ledger.ts',
  'packages/stores/src/postgres/database.ts',
]

interface Source {
  path: string
  text: string
}

/** What many callers wait for or share in these sources without a share for each. */
function unshared(sources: readonly Source[], known: readonly string[]): string[] {
  return sources.flatMap(({ path, text }) => {
    const names = [...text.matchAll(/createLimiter\(\{\s*name: '([^']+)'/g)].map(([, name]) => name)
    const isQueue =
      text.includes('createCoalescingQueue<') || text.includes('createCoalescingQueue({')
    const isOfCallers = !isQueue || text.includes('ownerOf') || QUEUES_OF_THE_SERVER.includes(path)
    const isBound =
      /\bMAX_(?:WAITING|CONCURRENT|QUEUED|PENDING)\w* =|\b(?:new |create)Semaphore|'p-(?:limit|queue)'/.test(
        text,
      )
    const isShared = /\/(?:limiter|coalesce)\.ts'/.test(text) || OTHER_BOUNDS.includes(path)
    return [
      ...names.filter((name = '') => !known.includes(name)).map((name) => `${path}: ${name}`),
      ...(isOfCallers ? [] : [`${path}: a queue without owners`]),
      ...(isBound && !isShared ? [`${path}: a bound without owners`] : []),
    ]
  })
}

async function withinMs<Result>(milliseconds: number, work: () => Promise<Result>) {
  const began = performance.now()
  const result = await work()
  expect(performance.now() - began).toBeLessThan(milliseconds)
  return result
}

describe('What all callers share', () => {
  it('is found by another key, and by the operator, whatever one key takes', () => {
    const names = [...limitersByName.keys()]
    expect(names).toEqual(
      expect.arrayContaining([
        'answers that nobody has read',
        'bytes of request bodies',
        'characters of waiting writes',
        'chats',
        'connections',
        'documents about programs',
        'followers of the activity',
        'jobs',
        'readers of files',
        'requests',
        'sandboxes',
        'streams of lines',
        'subscriptions',
        'uploads',
        'waiting writes',
        'web pages',
      ]),
    )
    for (const limiter of limitersByName.values()) {
      // Of one, the next in turn gets it: what holds it has a deadline of its own.
      if (limiter.capacity < 2) continue
      const giveBack = starve(limiter, 'greedy')
      const leaves = ['modest', undefined].map((owner) => {
        const leave = limiter.take(owner)
        leave?.()
        return leave
      })
      giveBack()
      expect([limiter.name, ...leaves]).not.toContain(undefined)
    }
  })

  it('is refused only by a limiter with a share for each owner', () => {
    const refusals = /AppError\(\s*'(queue_full|too_many_requests|too_many_runs|too_many_uploads)'/
    const own = [...sourceFiles('src'), ...sourceFiles('packages')]
      .filter(({ path, text }) => !path.includes('/test/') && refusals.test(text))
      .filter(({ text }) => !text.includes('@agent-server/lib/limiter.ts'))
    expect(own.map(({ path }) => path)).toEqual([])
  })

  it('has owners wherever a limiter, a queue or a bound of what waits is made', () => {
    const known = [...limitersByName.keys(), ...LATER]
    const sources = [...sourceFiles('src'), ...sourceFiles('packages')].filter(
      ({ path }) => !path.includes('/test/'),
    )
    expect(unshared(sources, known)).toEqual([])
  })

  it.each([
    "const turns = createLimiter({ name: 'of my own', capacity: 3 })",
    'const queue = createCoalescingQueue<Text, Vector>({ work, weightOf, maxWeight })',
    'const MAX_WAITING = 100',
    "import limit from 'p-limit'",
  ])('is missed by the test where it is made like this: %s', (text) => {
    expect(unshared([{ path: 'src/new.ts', text }], [])).toHaveLength(1)
  })

  it('is taken for nobody in particular only where one at a time or the server itself works', () => {
    const takesForNobody = [...sourceFiles('src'), ...sourceFiles('packages')].filter(
      ({ path, text }) => !path.includes('/test/') && /\.(?:run|take)\(\s*undefined\b/.test(text),
    )
    expect(takesForNobody.map(({ path }) => path).toSorted()).toEqual(OF_THE_SERVER)
  })
})

describe('A key that takes all it can get', () => {
  it('keeps nobody from sending a body', onlyLong, async () => {
    const head = [
      'POST /query HTTP/1.1',
      'host: localhost',
      `authorization: Bearer ${greedy.secret}`,
      'content-type: application/json',
      'content-length: 10000000',
      'expect: 100-continue',
    ].join('\r\n')
    const connections = await Promise.all(Array.from({ length: 64 }, () => openConnection(server)))
    onTestFinished(() => {
      for (const connection of connections) connection.vanish()
    })
    for (const connection of connections) connection.send(`${head}\r\n\r\n{`)
    await Promise.all(connections.map((connection) => connection.received(/100 Continue/)))
    for (const { request } of [server, modest, greedy]) {
      const answer = await withinMs(SOON_MS, () => request('/query', { body: { query: 'owls' } }))
      expect(answer.status).toBe(200)
    }
  })

  it.each(
    someOf(
      [
        ['running code', 'Sleep.', 16, 'Compute.', '42'],
        ['asking tables', 'Join.', 48, 'Count.', '3'],
      ],
      1,
    ),
  )(
    'keeps nobody from %s',
    { ...long, timeout: 60_000 },
    async (_what, greed, times, question, result) => {
      const leaving = new AbortController()
      const body = { messages: [{ role: 'user', content: greed }] }
      const before = upstream.requests.length
      const chats = Array.from({ length: times }, () =>
        greedy.request('/chat', { body, signal: leaving.signal }).then((answer) => answer.text()),
      )
      onTestFinished(async () => {
        leaving.abort()
        await Promise.allSettled(chats)
      })
      const begun = () => upstream.requests.length - before
      await expect.poll(begun, { timeout: 20_000 }).toBeGreaterThanOrEqual(times)
      await withinMs(JOB_MS, () => ask(modest, question))
      const results = upstream.requests.slice(before).flatMap(toolResults)
      expect(results).toContainEqual(expect.stringMatching(new RegExp(`^${result}$`, 'm')))
    },
  )
})
