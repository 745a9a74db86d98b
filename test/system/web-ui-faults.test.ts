import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Deployment } from '@agent-server/schemas/operator/deployment.ts'
import { Readiness } from '@agent-server/schemas/operator/ops.ts'
import { unzipSync } from 'fflate'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConversationList } from '../../src/dialects/conversations/schema.ts'
import {
  askOn,
  goTo,
  hasBrowser,
  openPage,
  openWebUi,
  press,
  useBrowser,
} from '../support/browser.ts'
import { toolResults } from '../support/model-request.ts'
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { freePort, MAIN, startServerProcess } from '../support/server-process.ts'
import { ROOT } from '../support/source-tree.ts'
import { temporaryDirectory, writeAgentFile } from '../support/temporary-files.ts'
import { chunk, streamReply, textReply, toolCallReply } from '../support/upstream-replies.ts'

const browser = useBrowser()
let upstream: ScriptedUpstream
beforeAll(async () => {
  upstream = await startScriptedUpstream()
})
afterAll(async () => {
  await upstream.close()
})

describe.skipIf(!hasBrowser)('Calls that wait for approval (needs Chromium)', () => {
  it('show what they would do, and run when they are approved and not when they are refused', async () => {
    const AGENT_CONFIG = await writeAgentFile({
      tools: { semantic_search: { approval: 'always' } },
    })
    const server = await startServer(modelAt(upstream, { AGENT_CONFIG }))
    await server.ingest({ title: 'Beavers', text: 'Beavers build lodges.' })
    const call = toolCallReply({ name: 'semantic_search', arguments: { query: 'lodges' } })
    const { page, complaints } = await openWebUi(browser, server.url, 'chat')
    for (const [word, answer, shown] of [
      ['Approve', 'They do.', /Beavers build lodges/],
      ['Refuse', 'I was not allowed.', /refused/],
    ] as const) {
      upstream.script(call, textReply(answer))
      await askOn(page, 'Who builds lodges?')
      const waiting = page.getByRole('form', { name: 'Waiting for approval' })
      expect(await waiting.innerText()).toContain('"query": "lodges"')
      await press(page, word)
      await page.getByText(answer).waitFor()
      expect(await waiting.count()).toBe(0)
      const turn = page.getByRole('article').last()
      await turn.getByText('1 step').click()
      const step = turn.getByRole('listitem').first()
      await step.getByText('the documents for “lodges”').click()
      expect(await step.innerText()).toMatch(shown)
      // A second question would first be put into words of its own, which asks the model, too.
      await press(page, 'New conversation')
    }
    expect(complaints).toEqual([])
  })

  it('are approved or refused one by one', async () => {
    const AGENT_CONFIG = await writeAgentFile({
      tools: { semantic_search: { approval: 'always' } },
    })
    const server = await startServer(modelAt(upstream, { AGENT_CONFIG }))
    const calls = ['lodges', 'dams'].map((query) => ({
      name: 'semantic_search',
      arguments: { query },
      id: query,
    }))
    const { page } = await openWebUi(browser, server.url, 'chat')
    upstream.script(toolCallReply(calls), textReply('They do.'))
    await askOn(page, 'Who builds lodges?')
    const waiting = page.getByRole('form', { name: 'Waiting for approval' })
    await waiting.getByRole('checkbox').nth(1).uncheck()
    const asked = upstream.nextRequest()
    await press(page, 'Approve selected')
    expect(toolResults(await asked)).toEqual([
      expect.not.stringContaining('refused'),
      expect.stringContaining('the user refused this call'),
    ])
    await page.getByText('They do.').waitFor()
  })
})

describe.skipIf(!hasBrowser)('A restart (needs Chromium)', () => {
  it('in the middle of an answer keeps what came, says so, and the answer can be asked again', async () => {
    const environment = modelAt(upstream, { PORT: await freePort(), SHUTDOWN_GRACE: '1' })
    const server = await startServerProcess(environment)
    upstream.script(streamReply(chunk({ content: 'It begins' }), { hang: true }))
    const { page } = await openWebUi(browser, server.url, 'chat')
    await askOn(page, 'What is it?')
    await page.getByText('It begins').waitFor()
    await server.request('/admin/restart', { method: 'POST' })
    await page.getByText('Interrupted: the server stopped').waitFor({ timeout: 60_000 })
    await page.getByText('It begins').waitFor()
    upstream.always(textReply('It is whole.'))
    await expect
      .poll(async () => (await fetch(`${server.url}/readiness`).catch(() => undefined))?.ok, {
        timeout: 120_000,
      })
      .toBe(true)
    await press(page, 'Retry')
    await page.getByText('It is whole.').waitFor({ timeout: 60_000 })
  })
})

describe.skipIf(!hasBrowser)(
  'A server that dies in the middle of an answer (needs Chromium)',
  () => {
    it('is waited for, which the chat says, and shows what it has of the answer', async () => {
      const environment = modelAt(upstream, { PORT: await freePort() })
      const directory = await temporaryDirectory()
      const server = await startServerProcess(environment, { directory })
      upstream.script(streamReply(chunk({ content: 'It begins' }), { hang: true }))
      const { page } = await openWebUi(browser, server.url, 'chat')
      await askOn(page, 'What is it?')
      await page.getByText('It begins').waitFor()
      // Stored once a second.
      const stored = async () => {
        const listed = await server.request('/v1/conversations')
        const { data } = ConversationList.parse(await listed.json())
        const items = await server.request(`/v1/conversations/${data[0]?.id}/items`)
        return items.text()
      }
      await expect.poll(stored).toContain('It begins')
      await server.crash()
      const lost = page.getByText('Connection lost, trying to reconnect')
      await lost.waitFor()
      // Longer than a moment, and what came stays.
      await page.getByText('12 s, Esc to stop').waitFor({ timeout: 30_000 })
      await page.getByText('It begins').waitFor()
      await startServerProcess(environment, { directory })
      await page.getByText('Interrupted: the server stopped').waitFor({ timeout: 60_000 })
      await page.getByText('It begins').waitFor()
      expect(await lost.count()).toBe(0)
    })
  },
)

const canMount =
  spawnSync('unshare', ['-Urm', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt']).status === 0
/** What it is followed by runs in a folder on a small disk. */
const ON_SMALL_DISK = 'mount -t tmpfs -o size=80m tmpfs "$0" && cd "$0" && exec "$@"'

describe.skipIf(!hasBrowser || !canMount)('A full disk (needs Chromium, and namespaces)', () => {
  it('is shown at the file that did not fit, and on the overview', async () => {
    const directory = await temporaryDirectory()
    const inside = ['sh', '-c', ON_SMALL_DISK, directory, process.execPath, MAIN]
    const server = await startServerProcess(
      {},
      { directory, command: ['unshare', '-Urm', ...inside] },
    )
    const { page } = await openWebUi(browser, server.url, 'documents')
    const large = join(await temporaryDirectory(), 'large.txt')
    await writeFile(large, Buffer.alloc(45e6, 'Owls hoot at night. '))
    await page.getByLabel('Add files').last().setInputFiles(large)
    const panel = page.getByRole('region', { name: '0 files sent' })
    await panel.getByText('1 file failed').waitFor({ timeout: 60_000 })
    expect(await panel.getByRole('listitem').innerText()).toMatch(/large\.txt\n.*disk/i)
    await server.ingest({ title: 'Owls', text: 'A text finds room beside a file that did not.' })
    // By another program, within the server's own view of the disks.
    const rest = join('/proc', String(server.pid), 'root', directory, 'of-another-program')
    await writeFile(rest, Buffer.alloc(80e6)).catch(() => undefined)
    await goTo(page, 'Overview')
    await page.getByText('Running, but a component has failed').waitFor({ timeout: 60_000 })
    const works = page.getByRole('region', { name: 'Needs attention' })
    const store = works.getByRole('listitem').filter({ hasText: 'Document store' })
    const told = /Fails[\s\S]*Check the disk at DATA_DIR/
    await expect.poll(() => store.innerText(), { timeout: 60_000 }).toMatch(told)
  })
})

const READER = fileURLToPath(new URL('packages/readers/src/extract-process.ts', ROOT))

describe.skipIf(!hasBrowser || !canMount)(
  'A reader of files that ends with each (needs Chromium, and namespaces)',
  () => {
    it('is shown with its cause on the overview and at the documents, until it works again', async () => {
      const directory = await temporaryDirectory()
      const server = await startServerProcess(
        {},
        { directory, command: ['unshare', '-Urm', process.execPath, MAIN] },
      )
      const inServer = (...command: string[]) => {
        const target = ['-t', String(server.pid), '-U', '-m', '--preserve-credentials']
        expect(spawnSync('nsenter', [...target, ...command]).status).toBe(0)
      }
      const broken = join(directory, 'broken.ts')
      await writeFile(broken, 'process.exit(7)\n')
      // As if the program could not be started any more; only this server sees it.
      inServer('mount', '--bind', broken, READER)
      const { page } = await openWebUi(browser, server.url, 'documents')
      const files = ['a', 'b', 'c'].map((name) => ({
        name: `${name}.txt`,
        mimeType: '',
        buffer: Buffer.from(`What ${name} says.`),
      }))
      await page.getByLabel('Add files').last().setInputFiles(files)
      const cause = 'The process that reads files ended with exit code 7'
      const row = page.getByRole('listitem').filter({ hasText: 'a.txt' })
      await row.getByText(cause).waitFor({ timeout: 60_000 })
      await row.getByRole('link', { name: 'a.txt' }).click()
      await page.getByText(`${cause} (extraction_crashed)`).waitFor()
      await goTo(page, 'Overview')
      await page.getByText('Running, degraded').waitFor({ timeout: 60_000 })
      const ingestion = page
        .getByRole('region', { name: 'Needs attention' })
        .getByRole('listitem')
        .filter({ hasText: 'Ingestion' })
      await expect.poll(() => ingestion.innerText(), { timeout: 60_000 }).toContain(cause)
      expect(await ingestion.innerText()).toMatch(/Fails[\s\S]*Nothing is lost/)
      const readiness = async () =>
        Readiness.parse(await (await server.request('/readiness')).json()).checks.ingestion
      expect(await readiness()).toMatchObject({
        state: 'failed',
        message: `Ingestion is stalled: ${cause}`,
      })
      inServer('umount', READER)
      await expect
        .poll(async () => (await readiness())?.state, { timeout: 120_000, interval: 1_000 })
        .toBe('ok')
      await page.getByText('Running', { exact: true }).waitFor({ timeout: 60_000 })
    })
  },
)

describe.skipIf(!hasBrowser)('A deployment (needs Chromium)', () => {
  it('is downloaded as the files that are shown', async () => {
    const server = await startServer()
    const { page, complaints } = await openWebUi(browser, server.url, 'deploy')
    await page.getByLabel('Target').selectOption('compose')
    await press(page, 'Show files')
    const download = page.waitForEvent('download')
    await press(page, 'Download zip')
    expect((await download).suggestedFilename()).toBe('compose.zip')
    const files = unzipSync(await readFile(await (await download).path()))
    const answer = await server.request('/admin/deploy', { body: { target: 'compose' } })
    const expected = Deployment.parse(await answer.json()).files.map(({ name, text }) => [
      `deployment/compose/${name}`,
      text,
    ])
    expect(
      Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes).toString()]),
    ).toEqual(expected)
    expect(complaints).toEqual([])
  })
})

// new-usemame/Calibre-Web-NextGen#571, itsDNNS/docsight#781
describe.skipIf(!hasBrowser)('A page below a path of a proxy (needs Chromium)', () => {
  it('is not blank, but says what the server needs', async () => {
    const { url } = await startServer()
    const { page } = await openPage(browser, url)
    await page.goto(url)
    await page.getByLabel('Server key').waitFor()
    const notice = page.getByText('a host name or a port of its own')
    expect(await notice.isVisible()).toBe(false)
    await page.route(`${url}/ui/assets/**`, (route) => route.fulfill({ status: 404 }))
    await page.reload()
    await notice.waitFor()
  })
})
