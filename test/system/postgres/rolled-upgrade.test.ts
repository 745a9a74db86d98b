import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { search } from '../../support/knowledge.ts'
import { startQdrant } from '../../support/qdrant/nodes.ts'
import { MAIN, type ServerProcess, startServerProcess } from '../../support/server-process.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'
import { SECOND_VERSION } from '../../support/versions/coming.ts'
import { makeVersion } from '../../support/versions/make-version.ts'
import { waitUntilIdle } from './settling.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

const CLIENTS = 16
/** There are before the upgrade; more by hand. */
const DOCUMENTS = Number(process.env.UPGRADE_DOCUMENTS ?? 500)
const WORK_MS = 2_000
const BREATH_MS = 20
/** In which the server of the version before ingests one of the documents. */
const FORM_MS = 60_000
const OLD_FORM = 'SELECT 1 FROM agent_server.chunks WHERE body IS NULL LIMIT 1'
const MINUTES = 5 * 60_000 + DOCUMENTS * 20

const wordOf = (n: number) => `kite${n.toString(36).padStart(4, '0')}x`
const textOf = (n: number) => `The ${wordOf(n)} circles over fields.`

/** A few at a time. */
async function inBatches<Output>(all: readonly number[], run: (n: number) => Promise<Output>) {
  const outputs: Output[] = []
  for (let at = 0; at < all.length; at += CLIENTS) {
    outputs.push(...(await Promise.all(all.slice(at, at + CLIENTS).map(run))))
  }
  return outputs
}

interface Slot {
  server: ServerProcess
  /** From the moment on at which it is told to stop. */
  isStopped: boolean
}

/** What sixteen clients do, until they are told to stop; a failure counts unless its server was stopped by then. */
function work(slots: readonly Slot[]) {
  const failures: string[] = []
  const added: number[] = []
  let next = DOCUMENTS
  let answered = 0
  let isOver = false

  const fail = (slot: Slot, words: string) => {
    if (!slot.isStopped) failures.push(words)
  }
  const ask = async (slot: Slot): Promise<void> => {
    const n = Math.floor(Math.random() * DOCUMENTS)
    const { request } = slot.server
    const kind = Math.floor(Math.random() * 4)
    const late = next
    if (kind === 0) next += 1
    const answer = await [
      () => request(`/documents/kite-${late}`, { method: 'PUT', body: { text: textOf(late) } }),
      () => request('/query', { body: { query: wordOf(n) } }),
      () => request(`/documents/kite-${n}/text`),
      () => request('/documents?limit=5'),
    ][kind]?.()
    const text = (await answer?.text()) ?? ''
    if (!answer?.ok) return fail(slot, `${kind}: ${answer?.status} ${text}`)
    answered += 1
    if (kind === 0) added.push(late)
    if ((kind === 1 || kind === 2) && !text.includes(textOf(n))) fail(slot, `${kind}: ${text}`)
  }
  const client = async () => {
    while (!isOver) {
      const running = slots.filter(({ isStopped }) => !isStopped)
      const slot = running[Math.floor(Math.random() * running.length)]
      if (slot) await ask(slot).catch((error: unknown) => fail(slot, String(error)))
      await pause(BREATH_MS)
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, client))

  return {
    async end() {
      isOver = true
      await clients
      return { failures, added, answered }
    },
  }
}

describe.skipIf(!hasPostgres)('Two servers on one database (needs PostgreSQL)', () => {
  it('are replaced by the next version, one after the other, while 16 clients work', {
    timeout: MINUTES,
  }, async () => {
    const data = await createPostgresData()
    onTestFinished(() => data.remove())
    const qdrant = await startQdrant()
    const second = await makeVersion(await temporaryDirectory(), SECOND_VERSION)
    const start = (main: string) =>
      startServerProcess(
        {
          DATABASE_URL: data.url,
          QDRANT_URL: qdrant.url,
          SHUTDOWN_GRACE: '10',
          INGEST_QUEUE_LIMIT: '1000000',
        },
        { command: [process.execPath, main] },
      )
    const slots: Slot[] = []
    for (const server of await Promise.all([start(MAIN), start(MAIN)])) {
      slots.push({ server, isStopped: false })
    }
    const lines = Array.from({ length: DOCUMENTS }, (_, n) =>
      JSON.stringify({ id: `kite-${n}`, text: textOf(n) }),
    )
    const [one] = slots
    const stored = await one?.server.request('/documents/batch', {
      body: lines.join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
    })
    expect((await stored?.text())?.trim().split('\n')).toHaveLength(DOCUMENTS)
    if (one) await waitUntilIdle(one.server)

    const working = work(slots)
    await pause(WORK_MS)
    for (const slot of slots) {
      slot.isStopped = true
      expect((await slot.server.stop()).code).toBe(0)
      const server = await start(second)
      Object.assign(slot, { server, isStopped: false })
      await pause(WORK_MS)
      // The version before has written its own form beside the next one.
      await expect.poll(() => data.sql(OLD_FORM), { timeout: FORM_MS }).not.toEqual([])
    }
    const { failures, added, answered } = await working.end()
    expect(failures).toEqual([])
    expect(answered).toBeGreaterThan(CLIENTS * 10)
    const [first, last] = slots.map(({ server }) => server)
    if (!first || !last) throw new Error('There are two servers')
    await waitUntilIdle(first)
    const found = await inBatches(
      added,
      async (n) => (await search(n % 2 ? first : last, wordOf(n)))[0]?.text,
    )
    expect(found).toEqual(added.map(textOf))
    const forms = await data.sql(
      `SELECT DISTINCT coalesce(substr(body, 1, 2), 'v1') AS form FROM agent_server.chunks ORDER BY 1`,
    )
    expect(forms.map(({ form }) => form)).toEqual(['v1', 'v2'])
    expect(qdrant.mistakes).toEqual([])
  })
})
