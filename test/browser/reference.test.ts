import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { settledDocument, TEST_KEY } from '../support/server.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'

const CHROMIUM = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'
/** A name that only the browser knows: to it, an address of a machine elsewhere, without TLS. */
const NAME = 'agent-server.test'
/** What a browser says of headers that it follows with TLS only. */
const WITHOUT_TLS =
  /^The (Cross-Origin-Opener-Policy header has been ignored|page requested an origin-keyed)/
const Contract = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--host-resolver-rules=MAP ${NAME} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`,
]

describe.skipIf(!existsSync(CHROMIUM))('The reference (needs Chromium)', () => {
  let browser: Browser
  let server: ServerProcess

  beforeAll(async () => {
    server = await startServerProcess()
    await server.ingest({ title: 'Opening hours', text: 'The library opens at nine on weekdays.' })
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
    return async () => {
      await browser.close()
      await server.close()
    }
  })

  /** The page at `/reference`, and what went wrong on it or left its host. */
  async function openReference(host: string) {
    const context = await browser.newContext({ viewport: { width: 1_280, height: 1_600 } })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const origin = server.url.replace('127.0.0.1', host)
    const complaints: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning')
        complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`))
    page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(origin) && !url.startsWith('data:')) complaints.push(`left for ${url}`)
    })
    await page.goto(`${origin}/reference`)
    return { page, complaints }
  }

  async function authorize(page: Page): Promise<void> {
    await page.locator('button.authorize').first().click()
    const dialog = page.locator('.dialog-ux')
    await dialog.locator('input').fill(TEST_KEY)
    await dialog.locator('button.authorize').click()
    await dialog.locator('button.btn-done').click()
  }

  /** Opens an operation, sends the body, and answers the status and the body that are shown. */
  async function tryOut(page: Page, operation: string, body: object) {
    const block = page.locator(`#operations-${operation}`)
    await block.locator('.opblock-summary-control').click()
    await block.locator('.try-out__btn').click()
    await block.locator('textarea.body-param__text').fill(JSON.stringify(body))
    await block.locator('button.execute').click()
    const live = block.locator('.live-responses-table')
    return {
      status: await live.locator('tbody .response-col_status').first().innerText(),
      body: JSON.parse(await live.locator('.microlight').first().innerText()),
    }
  }

  it.each(['127.0.0.1', NAME])(
    'shows every operation at %s, without anything from elsewhere',
    async (host) => {
      const { page, complaints } = await openReference(host)
      await page.locator('.opblock').first().waitFor()
      const contract = Contract.parse(await (await server.request('/openapi.json')).json())
      const operations = Object.values(contract.paths).flatMap((path) => Object.keys(path))
      expect(await page.locator('.opblock').count()).toBe(operations.length)
      expect(await page.title()).toBe('Agent Server')
      expect(complaints.filter((complaint) => !WITHOUT_TLS.test(complaint))).toEqual([])
    },
  )

  it('tries requests with the key', async () => {
    const { page, complaints } = await openReference('127.0.0.1')
    await authorize(page)
    const found = await tryOut(page, 'knowledge-query', { query: 'When does the library open?' })
    expect(found.status).toContain('200')
    expect(found.body.hits).toMatchObject([{ title: 'Opening hours' }])

    const created = await tryOut(page, 'knowledge-createDocument', { text: 'Ships pass at night.' })
    expect(created.status).toContain('202')
    expect(created.body).toEqual({ id: expect.any(String), status: 'pending' })
    expect(await settledDocument(server.request, created.body.id)).toMatchObject({
      status: 'ready',
    })
    expect(complaints).toEqual([])
  })

  it('shows the envelope where the key is missing', async () => {
    const { page } = await openReference('127.0.0.1')
    const refused = await tryOut(page, 'knowledge-query', { query: 'When?' })
    expect(refused.status).toContain('401')
    expect(refused.body.error.code).toBe('unauthorized')
  })
})
