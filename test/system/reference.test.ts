import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { hasBrowser, NAMED_HOST, openPage, useBrowser } from '../support/browser.ts'
import { startServer, TEST_KEY } from '../support/server.ts'

/** What a browser says of headers that it follows with TLS only. */
const WITHOUT_TLS =
  /^The (Cross-Origin-Opener-Policy header has been ignored|page requested an origin-keyed)/

const OpenApi = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

/** High enough for the whole list: of one of 150 operations and more, the page draws only what is in sight. */
const WHOLE_LIST = { viewport: { width: 1280, height: 30_000 } }

const browser = useBrowser()

describe.skipIf(!hasBrowser)('/reference in a browser (needs Chromium)', () => {
  it('works offline: it asks nobody but its own server, and breaks no rule of its own', async () => {
    const { page, complaints } = await openReference()
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`))
    await page.reload()
    await operation(page, 'agent-getAgent').waitFor()
    expect(requests.length).toBeGreaterThan(3)
    expect(complaints.filter((text) => !WITHOUT_TLS.test(text))).toEqual([])
  })

  it('shows every operation of the contract', async () => {
    const { page, server } = await openReference()
    const { paths } = OpenApi.parse(await (await server.request('/openapi.json')).json())
    const described = Object.values(paths).flatMap((path) => Object.keys(path))
    await expect.poll(() => page.locator('.opblock').count()).toBe(described.length)
  })

  it('is refused without a key, and answered with one', async () => {
    const { page } = await openReference()
    await execute(page, 'agent-getAgent', { status: '401' })
    await authorise(page, TEST_KEY)
    await execute(page, 'agent-getAgent', {
      status: '200',
      body: expect.stringContaining('"tools"'),
    })
  })

  it('sends a body, starting from the example that the contract gives', async () => {
    const { page } = await openReference()
    await authorise(page, TEST_KEY)
    await execute(page, 'knowledge-query', {
      status: '200',
      body: expect.stringContaining('"hits"'),
    })
  })
})

async function openReference() {
  const server = await startServer()
  const url = server.url.replace('127.0.0.1', NAMED_HOST)
  const { page, complaints } = await openPage(browser, url, WHOLE_LIST)
  await page.goto(`${url}/reference`)
  await operation(page, 'agent-getAgent').waitFor()
  return { page, complaints, server }
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
