import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ServerState } from '../../src/schemas/admin.ts'
import { expectAccessible, hasBrowser, launchBrowser, openScreen } from '../support/browser.ts'
import { startScriptedEmbedder } from '../support/scripted-embedder.ts'
import { freePort, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

let browser: Browser
beforeAll(async () => {
  if (hasBrowser) browser = await launchBrowser()
})
afterAll(() => browser?.close())

const NEW_KEY = 'key-of-the-new-embedder'

describe.skipIf(!hasBrowser)('The embedding model (needs Chromium)', () => {
  it('is changed by test, restart, progress and switch, and the page never sees the key', async () => {
    const [old, next] = await Promise.all([startScriptedEmbedder(), startScriptedEmbedder()])
    const directory = await temporaryDirectory()
    const file = join(directory, '.env')
    const before = { EMBEDDING_MODEL: 'a', EMBEDDING_BASE_URL: old.url, EMBEDDING_API_KEY: 'old' }
    const lines = Object.entries(before).map(([name, value]) => `${name}=${value}\n`)
    await writeFile(file, lines.join(''))
    const PORT = await freePort()
    // What the environment sets could not be changed here.
    const server = await startServerProcess({ PORT, EMBEDDING_MODEL: undefined }, { directory })
    await server.ingest({ title: 'Owls', text: 'Owls hoot.' })

    const { page } = await openScreen(browser, server.url, 'models')
    await page.getByText('Change the model of documents that have vectors').click()
    expect(await page.getByRole('button', { name: 'Begin and restart' }).isDisabled()).toBe(true)
    await page.getByLabel('New model').fill('b')
    await page.getByLabel('Its address, if another').fill(next.url)
    await page.getByLabel('Its key, if another').fill(NEW_KEY)
    await page.getByRole('button', { name: 'Test the new model' }).click()
    await page.getByText(/b works: .* dimensions/).waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Begin and restart' }).click()
    const change = page.getByRole('button', { name: 'Switch to it and restart' })
    await change.waitFor({ timeout: 120_000 })
    await page.getByText('All passages have vectors of b').waitFor()
    await expectAccessible(page)
    await change.click()
    await expect
      .poll(async () => parseEnv(await readFile(file, 'utf8')), { timeout: 60_000 })
      .toEqual({ EMBEDDING_MODEL: 'b', EMBEDDING_BASE_URL: next.url, EMBEDDING_API_KEY: NEW_KEY })
    const needsRestart = async () => {
      const state = await (await server.request('/admin/server')).json()
      return ServerState.parse(state).restart.required
    }
    await expect.poll(() => needsRestart().catch(() => true), { timeout: 120_000 }).toBe(false)
    const found = async () => (await server.request('/query', { body: { query: 'owls' } })).json()
    await expect.poll(found, { timeout: 60_000 }).toMatchObject({ hits: [{ title: 'Owls' }] })
    expect(await page.content()).not.toContain(NEW_KEY)
    await Promise.all([old.close(), next.close()])
  }, 300_000)
})
