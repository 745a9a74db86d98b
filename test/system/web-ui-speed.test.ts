import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { createSqliteData } from '../../packages/stores/test/sqlite/store-data.ts'
import { Conversation } from '../../src/dialects/conversations/schema.ts'
import { askOn, hasBrowser, openWebUi, press, useBrowser } from '../support/browser.ts'
import { onlyLong } from '../support/long.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'
import { textReply } from '../support/upstream-replies.ts'

const ROUNDS = 5
const TURNS = 200
const DOCUMENTS = 100_000
const ANSWER = `On Saturdays the library opens **at ten** [1], and $p + 5$ is charged for a lost book.

| Day | Opens |
| --- | ---: |
| Saturday | 10 |

\`\`\`python
fee = price + 5
\`\`\``
const HOURS = { title: 'Opening hours', text: 'On Saturdays the library opens at ten.' }
const QUESTION = 'When does the library open on Saturdays?'

const browser = useBrowser()

/** The quickest of several rounds: what the page takes, without most of what else the machine does. */
async function quickest(measure: () => Promise<number>): Promise<number> {
  const found: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) found.push(await measure())
  return Math.round(Math.min(...found))
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** A function that tells how many milliseconds of processor time the page has taken since it was loaded. */
async function watchProcessor(page: Page) {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1_000
  }
}

/** Milliseconds, for the table in docs/internals/performance.md. */
function report(figures: Record<string, number>): void {
  process.stdout.write(`${JSON.stringify(figures)}\n`)
}

/** Documents as ingestion leaves them, in one transaction. */
const SEED = `BEGIN;
  INSERT INTO documents
    (id, title, status, served_revision, chunk_count, characters, created_at, updated_at)
  WITH RECURSIVE notes (number) AS
    (SELECT 0 UNION ALL SELECT number + 1 FROM notes WHERE number < ${DOCUMENTS - 1})
  SELECT 'note-' || number, 'Note ' || number, 'ready', 1, 1, length('What note ' || number || ' says.'),
    1e12 + number, 1e12 + number FROM notes;
  INSERT INTO contents (document, revision, text)
    SELECT number, revision, 'What ' || lower(title) || ' says.' FROM documents;
  INSERT INTO chunks (key, document, revision, ordinal, start, end, heading, text)
    SELECT document, document, revision, 0, 0, length(text), '', text FROM contents;
  UPDATE counts SET ready = ${DOCUMENTS}, chunks = ${DOCUMENTS};
  UPDATE meta SET value = ${DOCUMENTS + 1} WHERE name = 'next_chunk_key';
COMMIT`

async function startSeeded(): Promise<TestServer> {
  const { directory, database, open } = await createSqliteData()
  await (await open()).close()
  const data = database()
  data.exec(SEED)
  data.close()
  const server = await startServer({ DATA_DIR: directory })
  const answer = await server.request('/query', { body: { query: 'What does note 4242 say?' } })
  expect(Object(await answer.json()).hits[0]).toMatchObject({ documentId: 'note-4242' })
  return server
}

/** A server with a conversation whose second turn was copied until there are enough. */
async function startTalked() {
  const upstream = await startScriptedUpstream()
  upstream.always(textReply(ANSWER))
  const { directory, database } = await createSqliteData()
  const server = await startServer(modelAt(upstream, { DATA_DIR: directory }))
  await server.ingest(HOURS)
  const created = await server.request('/v1/conversations', { body: {} })
  const { id } = Conversation.parse(await created.json())
  const ask = async () => {
    const messages = [{ role: 'user', content: QUESTION }]
    const response = await server.request('/chat', { body: { messages, conversation: { id } } })
    expect(await response.text()).toContain('"type":"done"')
  }
  await ask()
  const data = database()
  const before = Number(data.prepare('SELECT count(*) AS n FROM conversation_items').get()?.n)
  await ask()
  data.exec('BEGIN')
  for (let turn = 2; turn < TURNS; turn += 1) data.exec(copyOf(before, turn))
  data.exec(`UPDATE conversations SET items = (SELECT count(*) FROM conversation_items),
    size = (SELECT sum(size) FROM conversation_items),
    last_item = (SELECT id FROM conversation_items ORDER BY number DESC LIMIT 1); COMMIT`)
  data.close()
  return { server, id }
}

/** Copies the items of the second turn, which as many precede, under ids of another turn, after what is there. */
const copyOf = (
  before: number,
  turn: number,
) => `WITH last AS (SELECT id FROM conversation_items ORDER BY number DESC LIMIT 1),
  turn AS (SELECT * FROM conversation_items ORDER BY number LIMIT ${before} OFFSET ${before})
  INSERT INTO conversation_items (conversation, id, parent, json, size)
  SELECT conversation, id || '_${turn}',
    coalesce(
      (SELECT id || '_${turn}' FROM turn AS before WHERE before.id = turn.parent),
      (SELECT id FROM last)
    ),
    replace(json, id, id || '_${turn}'), size
  FROM turn ORDER BY number`

describe.skipIf(!hasBrowser)('The web UI is quick (needs Chromium)', () => {
  it('loads little, paints soon, and shows a cited answer soon', async () => {
    const server = await startServer()
    await server.ingest(HOURS)
    const { page, context } = await openWebUi(browser, server.url, 'overview')
    const session = await context.newCDPSession(page)
    await session.send('Network.enable')
    await session.send('Network.setCacheDisabled', { cacheDisabled: true })
    let bytes = 0
    const answers = new Set<string>()
    session.on('Network.requestWillBeSent', ({ requestId, request }) => {
      // The font comes after the first view, which shows another one until then.
      if (/\/ui\/api\/|\.woff2/.test(request.url)) answers.add(requestId)
    })
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      if (!answers.has(requestId)) bytes += encodedDataLength
    })
    const painted = await quickest(async () => {
      bytes = 0
      await page.reload()
      await page.getByRole('region', { name: 'What works' }).waitFor()
      return page.evaluate('performance.getEntriesByName("first-contentful-paint")[0].startTime')
    })
    const kilobytes = Math.round(bytes / 1_000)
    const cited = await quickest(async () => {
      await page.goto(`${server.url}/#/overview`)
      await page.goto(`${server.url}/#/chat`)
      if (await page.getByRole('article').count()) await press(page, 'New conversation')
      return timed(async () => {
        await askOn(page, QUESTION)
        await page.getByRole('button', { name: 'Source 1' }).first().waitFor()
      })
    })
    report({ kilobytes, painted, cited })
    expect(kilobytes).toBeGreaterThan(10)
    expect(kilobytes).toBeLessThanOrEqual(160)
    expect(painted).toBeLessThan(1_000)
    expect(cited).toBeLessThan(2_000)
  })

  it(`stays quick in a conversation of ${TURNS} turns`, { timeout: 600_000 }, async () => {
    const { server, id } = await startTalked()
    const { page } = await openWebUi(browser, server.url, `chat/${id}`)
    const last = page.getByRole('article', { name: `Question ${TURNS}` })
    await last.locator('.formula, math').first().waitFor()
    const field = page.getByLabel('Question', { exact: true })
    const taken = await watchProcessor(page)
    const text = 'a question that is typed letter by letter'
    const typing = await quickest(async () => {
      const before = await taken()
      await field.pressSequentially(text)
      return ((await taken()) - before) / text.length
    })
    const reload = await quickest(async () => {
      await page.reload()
      await last.locator('button.citation').first().waitFor()
      return taken()
    })
    report({ typing, reload })
    expect(typing).toBeLessThan(50)
    expect(reload).toBeGreaterThan(0)
    expect(reload).toBeLessThan(1_000)
  })

  it(`opens and filters ${DOCUMENTS} documents`, { ...onlyLong, timeout: 600_000 }, async () => {
    const server = await startSeeded()
    const { page } = await openWebUi(browser, server.url, 'search')
    const open = await quickest(async () => {
      await page.goto(`${server.url}/#/search`)
      // Otherwise it knows the list already.
      await page.reload()
      await page.getByLabel('Question', { exact: true }).waitFor()
      return timed(async () => {
        await page.goto(`${server.url}/#/documents`)
        await page
          .getByRole('link', { name: /^Note \d+$/ })
          .first()
          .waitFor()
      })
    })
    const filter = await quickest(async () => {
      await page.getByLabel('Title contains').fill('')
      const wanted = page.getByRole('link', { name: 'Note 4242', exact: true })
      await wanted.waitFor({ state: 'detached' })
      return timed(async () => {
        await page.getByLabel('Title contains').fill('Note 4242')
        await wanted.waitFor()
      })
    })
    report({ open, filter })
    expect(open).toBeLessThan(2_000)
    expect(filter).toBeLessThan(2_000)
  })
})
