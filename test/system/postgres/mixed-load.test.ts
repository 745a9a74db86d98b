import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { sendFile } from '../../support/forms.ts'
import { onlyLong } from '../../support/long.ts'
import { hasPostgresEngine, startPostgresEngine } from '../../support/postgres-engine.ts'
import { startQdrant } from '../../support/qdrant/nodes.ts'
import { type Script, startScriptedUpstream } from '../../support/scripted-upstream.ts'
import { modelAt } from '../../support/server.ts'
import { type ServerProcess, startServerProcess } from '../../support/server-process.ts'
import { textReply } from '../../support/upstream-replies.ts'
import { waitUntilIdle } from './settling.ts'

const CLIENTS = 32
/** By hand for an hour. */
const SECONDS = Number(process.env.MIXED_LOAD_SECONDS ?? 60)
const BREATH_MS = 100
/** Longer than the built-in model takes to load. */
const KILL_EVERY_MS = 10_000
const AWAY_EVERY_MS = 25_000
const AWAY_MS = 3_000
/** After which the engine counts as back: the server tries every few seconds. */
const BACK_MS = 20_000
/** With an answer of the model, and with all others. */
const PATIENCE_MS = 8_000
const LONG_PATIENCE_MS = 60_000
const KEPT = 3
/** One answer of so many never comes. */
const HANGS = 40
/** Below this, the server is still warming up. */
const MEMORY_SECONDS = 600
const MOST_GROWTH = 1.1

const words = (n: number) => `heron${n.toString(36)}x fishes at dawn beside the mill.`

async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`)
  const lists = threads.map((thread) =>
    readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => ''),
  )
  return (await Promise.all(lists)).join(' ').split(/\s+/).filter(Boolean).map(Number)
}

async function megabytesOf(pid: number): Promise<number> {
  const [, kilobytes = '0'] =
    /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1_024
}

/** False if it has ended by itself. */
function killed(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

type Call = (server: ServerProcess, n: number, signal: AbortSignal) => Promise<Response>

const chat =
  (stream: boolean): Call =>
  (server, n, signal) =>
    server.request('/v1/chat/completions', {
      body: { stream, messages: [{ role: 'user', content: `When do herons fish? ${n}` }] },
      signal,
    })

const CALLS: Record<string, Call> = {
  put: (server, n, signal) =>
    server.request(`/documents/heron-${n}`, { method: 'PUT', body: { text: words(n) }, signal }),
  file: (server, n) => {
    const bytes = new TextEncoder().encode(`<h1>Herons</h1><p>${words(n)}`)
    return sendFile(server, { name: `herons-${n}.html`, bytes })
  },
  query: (server, _n, signal) =>
    server.request('/query', { body: { query: 'herons at dawn' }, signal }),
  list: (server, _n, signal) => server.request('/documents?limit=20', { signal }),
  chat: chat(false),
  stream: chat(true),
}
const NAMES = Object.keys(CALLS)

interface Answer {
  name: string
  /** Why it counts as a failure, if it does. */
  failure?: string
  /** The id of a document that it has made. */
  made?: string
}

async function call(server: ServerProcess, n: number): Promise<Answer> {
  const name = NAMES[Math.floor(Math.random() * NAMES.length)] ?? 'list'
  const isChat = /chat|stream/.test(name)
  const signal = AbortSignal.timeout(isChat ? PATIENCE_MS : LONG_PATIENCE_MS)
  try {
    const response = (await CALLS[name]?.(server, n, signal)) ?? Response.error()
    const text = await response.text()
    const isRefused = !response.ok || text.includes('"error":{')
    if (isRefused) return { name, failure: `${name} ${response.status} ${text.slice(-400)}` }
    const made = /put|file/.test(name) ? /"id":"([^"]+)"/.exec(text)?.[1] : undefined
    return made ? { name, made } : { name }
  } catch (error) {
    // Of a model that hangs, the client has enough itself.
    return signal.aborted && isChat ? { name } : { name, failure: `${name} ${error}` }
  }
}

/** So that there are never more documents than a few for each client. */
async function forgetOldest(server: ServerProcess, own: string[]): Promise<void> {
  const oldest = own.length > KEPT ? own.shift() : undefined
  if (oldest) await (await server.request(`/documents/${oldest}`, { method: 'DELETE' })).text()
}

/** What clients do until they are told to stop. What they were refused counts, unless the engine was away. */
function startClients(server: ServerProcess, isAway: (since: number) => boolean) {
  const failures: string[] = []
  const done: Record<string, number> = {}
  let isOver = false
  let next = 0

  const client = async () => {
    const own: string[] = []
    while (!isOver) {
      next += 1
      const since = Date.now()
      const { name, failure, made } = await call(server, next)
      done[name] = (done[name] ?? 0) + 1
      if (failure && !isAway(since)) failures.push(failure)
      if (made) own.push(made)
      await forgetOldest(server, own)
      await pause(BREATH_MS * (0.5 + Math.random()))
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, client))
  return {
    async end() {
      isOver = true
      await clients
      return { failures, done }
    },
  }
}

describe.skipIf(!hasPostgresEngine)(
  'A server under mixed load (needs PostgreSQL’s programs and root)',
  () => {
    it(`for ${SECONDS} s by ${CLIENTS} clients refuses nothing while its processes are killed, the engine comes back and the model hangs`, {
      ...onlyLong,
      timeout: (SECONDS + 300) * 1_000,
    }, async () => {
      const engine = await startPostgresEngine()
      const qdrant = await startQdrant()
      const upstream = await startScriptedUpstream({ forgets: true })
      const said = textReply('At dawn [1].')
      const always: Script = (request) => {
        if (Math.random() < 1 / HANGS) return { steps: [{ hang: true }] }
        return typeof said === 'function' ? said(request) : said
      }
      upstream.always(always)
      const server = await startServerProcess(
        modelAt(upstream, {
          DATABASE_URL: engine.url,
          QDRANT_URL: qdrant.url,
          EMBEDDING_MODEL: 'builtin',
          SHUTDOWN_GRACE: '10',
        }),
      )
      let isOver = false
      let away = { from: 0, to: 0 }
      const isAway = (since: number) => away.from > 0 && since <= away.to && Date.now() >= away.from
      const clients = startClients(server, isAway)
      let kills = 0
      const killing = (async () => {
        while (!isOver) {
          await pause(KILL_EVERY_MS)
          const [child] = (await childrenOf(server.pid)).toSorted(() => Math.random() - 0.5)
          if (child === undefined) continue
          if (killed(child)) kills += 1
        }
      })()
      const leaving = (async () => {
        for (let last = Date.now(); !isOver; await pause(BREATH_MS)) {
          if (Date.now() - last < AWAY_EVERY_MS) continue
          away = { from: Date.now(), to: Number.POSITIVE_INFINITY }
          await engine.stop()
          await pause(AWAY_MS)
          await engine.start()
          away.to = Date.now() + BACK_MS
          last = Date.now()
        }
      })()
      const megabytes: number[] = []
      const watching = (async () => {
        for (const end = Date.now() + SECONDS * 1_000; Date.now() < end; await pause(1_000)) {
          megabytes.push(await megabytesOf(server.pid))
        }
        isOver = true
      })()
      const { failures, done } = await Promise.all([watching, killing, leaving]).then(
        () => clients.end(),
        async (error: unknown) => {
          isOver = true
          await clients.end()
          throw error
        },
      )
      const at = (from: number, to: number) =>
        Math.round(median(megabytes.slice(megabytes.length * from, megabytes.length * to)))
      const quarters = [at(0, 0.25), at(0.25, 0.5), at(0.5, 0.75), at(0.75, 1)]
      process.stderr.write(
        `${JSON.stringify(done)}, ${kills} kills, megabytes by quarters ${quarters}, ${failures.length} failures\n`,
      )
      expect(failures.slice(0, 10)).toEqual([])
      expect(kills).toBeGreaterThan(0)
      await waitUntilIdle(server)
      if (SECONDS >= MEMORY_SECONDS) {
        expect(at(0.75, 1)).toBeLessThanOrEqual(at(0.25, 0.5) * MOST_GROWTH)
      }
      expect((await server.stop()).code).toBe(0)
    })
  },
)
