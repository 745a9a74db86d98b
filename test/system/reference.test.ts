import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { startServer, TEST_KEY, type TestServer } from '../support/server.ts'

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium'
/** A name that is no name of the loopback, for which browsers make exceptions; it leads to the loopback all the same. */
const HOST = 'agent.test'
const FLAGS = [
  `--host-resolver-rules=MAP ${HOST} 127.0.0.1`,
  // A browser that root starts has no sandbox; it sees this server only.
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

/** What a browser says of headers that it follows with TLS only. */
const WITHOUT_TLS =
  /^The (Cross-Origin-Opener-Policy header has been ignored|page requested an origin-keyed)/

const OpenApi = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

describe.skipIf(!existsSync(EXECUTABLE))('/reference in a browser (needs Chromium)', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: EXECUTABLE, args: FLAGS })
  })
  afterAll(() => browser.close())

  it('works offline: it asks nobody but its own server, and breaks no rule of its own', async () => {
    const { page, url } = await openReference(browser)
    const requests: string[] = []
    const complaints: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`))
    await page.reload()
    await operation(page, 'agent-getAgent').waitFor()
    expect(requests.length).toBeGreaterThan(3)
    expect(requests.filter((request) => !request.startsWith(url))).toEqual([])
    expect(complaints.filter((text) => !WITHOUT_TLS.test(text))).toEqual([])
  })

  it('shows every operation of the contract', async () => {
    const { page, server } = await openReference(browser)
    const { paths } = OpenApi.parse(await (await server.request('/openapi.json')).json())
    const described = Object.values(paths).flatMap((path) => Object.keys(path))
    await expect.poll(() => page.locator('.opblock').count()).toBe(described.length)
  })

  it('is refused without a key, and answered with one', async () => {
    const { page } = await openReference(browser)
    await execute(page, 'agent-getAgent', { status: '401' })
    await authorise(page, TEST_KEY)
    await execute(page, 'agent-getAgent', {
      status: '200',
      body: expect.stringContaining('"tools"'),
    })
  })

  it('sends a body, starting from the example that the contract gives', async () => {
    const { page } = await openReference(browser)
    await authorise(page, TEST_KEY)
    await execute(page, 'knowledge-query', {
      status: '200',
      body: expect.stringContaining('"hits"'),
    })
  })
})

async function openReference(
  browser: Browser,
): Promise<{ page: Page; url: string; server: TestServer }> {
  const server = await startServer()
  const url = server.url.replace('127.0.0.1', HOST)
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  const page = await context.newPage()
  await page.goto(`${url}/reference`)
  await operation(page, 'agent-getAgent').waitFor()
  return { page, url, server }
}

function operation(page: Page, name: string) {
  return page.locator(`#operations-${name}`)
}

async function authorise(page: Page, key: string): Promise<void> {
  await page.getByRole('button', { name: 'Authorize' }).first().click()
  await page.getByLabel('auth-bearer-value').fill(key)
  await page.getByRole('button', { name: 'Apply credentials' }).click()
  await page.locator('.modal-ux').getByRole('button', { name: 'Close' }).click()
}

/** Tries an operation as it is offered, until the page shows what is expected: an earlier response stays meanwhile. */
async function execute(page: Page, name: string, expected: { status: string; body?: string }) {
  const block = operation(page, name)
  if (!(await block.getByRole('button', { name: 'Execute' }).isVisible())) {
    await block.locator('.opblock-summary-control').click()
    await block.getByRole('button', { name: 'Try it out' }).click()
  }
  await block.getByRole('button', { name: 'Execute' }).click()
  const live = block.locator('.live-responses-table .response')
  const shown = async () => {
    const status = await live.locator('.response-col_status').innerText()
    return { status: status.trim().slice(0, 3), body: await live.innerText() }
  }
  await expect.poll(shown).toMatchObject(expected)
}
