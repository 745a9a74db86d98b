import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { ServerState } from '@agent-server/schemas/operator/admin.ts'
import { QueryResponse } from '@agent-server/schemas/query.ts'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { expectAccessible, hasBrowser, openWebUi, useBrowser } from '../support/browser.ts'
import { startScriptedEmbedder } from '../support/scripted-embedder.ts'
import { freePort, type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const browser = useBrowser()

const NEW_KEY = 'key-of-the-new-embedder'

describe.skipIf(!hasBrowser)('The embedding model (needs Chromium)', () => {
  it('is changed from the built-in one and back by test, restart, progress and switch, and the page never sees the key', async () => {
    const embedder = await startScriptedEmbedder()
    const directory = await temporaryDirectory()
    const file = join(directory, '.env')
    const PORT = await freePort()
    // What the environment sets could not be changed here.
    const server = await startServerProcess({ PORT, EMBEDDING_MODEL: undefined }, { directory })
    await server.ingest({ title: 'Owls', text: 'Owls hoot.' })

    const { page } = await openWebUi(browser, server.url, 'models')
    const servers = page.getByRole('group', { name: 'Embedding server' })
    const builtIn = servers.getByRole('button', { name: /^Built in.*English/ })
    await builtIn.click()
    await expect.poll(() => builtIn.getAttribute('aria-pressed')).toBe('true')
    // What needs no server asks for no address and no key.
    expect(await page.getByLabel(/\bEMBEDDING_(BASE_URL|API_KEY)$/).count()).toBe(0)
    await servers.getByRole('button', { name: /^OpenAI/ }).click()
    expect(await page.getByLabel(/\bEMBEDDING_BASE_URL$/).inputValue()).toBe(
      'https://api.openai.com/v1',
    )
    await page.getByRole('button', { name: 'Discard' }).click()
    await servers.getByRole('button', { name: /^None/ }).click()
    expect(await page.getByLabel(/\bEMBEDDING_MODEL$/).inputValue()).toBe('none')
    await builtIn.click()
    expect(await page.getByLabel(/\bEMBEDDING_MODEL$/).inputValue()).toBe('builtin')
    await page.getByRole('button', { name: 'Test Embedding' }).click()
    await page.getByText(/works: .* 384 dimensions/).waitFor({ timeout: 60_000 })
    await page.getByRole('button', { name: 'Discard' }).click()

    await page.getByText('Change the embedding model of existing documents').click()
    expect(
      await page.getByRole('button', { name: 'Start the change and restart' }).isDisabled(),
    ).toBe(true)
    await page.getByLabel('New model').fill('b')
    await page.getByLabel('Base URL, if different').fill(embedder.url)
    await page.getByLabel('API key, if different').fill(NEW_KEY)
    const saved = () => readFile(file, 'utf8').then(parseEnv)
    await change(page, server, 'b')
    const first = { EMBEDDING_BASE_URL: embedder.url, EMBEDDING_API_KEY: NEW_KEY }
    expect(await saved()).toEqual({ EMBEDDING_MODEL: 'b', ...first })

    await page.getByText('Change the embedding model of existing documents').click()
    await page.getByLabel('New server').selectOption('Built in (English, needs no server)')
    await change(page, server, 'builtin')
    expect(await saved()).toEqual({ EMBEDDING_MODEL: 'builtin', ...first })
    expect(await page.content()).not.toContain(NEW_KEY)
    await embedder.close()
  }, 300_000)
})

/** From what is typed to a server that has switched to it and finds by it. */
async function change(page: Page, server: ServerProcess, model: string): Promise<void> {
  await page.getByRole('button', { name: 'Test the new model' }).click()
  await page
    .getByText(/works: .* dimensions/)
    .last()
    .waitFor({ timeout: 60_000 })
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Start the change and restart' }).click()
  const toSwitch = page.getByRole('button', { name: 'Switch to this model and restart' })
  await toSwitch.waitFor({ timeout: 120_000 })
  await page.getByText(`All passages have been embedded with ${model}`).waitFor()
  await expectAccessible(page)
  await toSwitch.click()
  await toSwitch.waitFor({ state: 'detached', timeout: 120_000 })
  const isSettled = async () => {
    const state = ServerState.parse(await (await server.request('/admin/server')).json())
    return state.state === 'running' && !state.restart.required
  }
  await expect.poll(() => isSettled().catch(() => false), { timeout: 120_000 }).toBe(true)
  const found = async () => {
    const response = await server.request('/query', { body: { query: 'owls' } })
    const { hits, degraded = false } = QueryResponse.parse(await response.json())
    return { title: hits[0]?.title, degraded }
  }
  await expect
    .poll(() => found().catch(() => undefined), { timeout: 60_000 })
    .toEqual({ title: 'Owls', degraded: false })
}
