import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  expectAccessible,
  findSetting,
  goTo,
  hasBrowser,
  openCard,
  openWebUi,
  press,
  useBrowser,
} from '../support/browser.ts'
import { freePort, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const browser = useBrowser()

describe.skipIf(!hasBrowser)('Launch and stop (needs Chromium)', () => {
  it('shows every mistake of a start that failed, lets them be mended, and launches', async () => {
    const directory = await temporaryDirectory()
    await writeFile(join(directory, 'agent.json'), '{"prompt": 3}')
    await writeFile(join(directory, '.env'), 'TOP_K=0\n')
    const PORT = await freePort()
    const server = await startServerProcess({ PORT }, { directory, until: 'listening' })
    const { page } = await openWebUi(browser, server.url)
    await page.getByText('Failed to start').waitFor()
    const mistakes = page.getByRole('list', { name: 'Mistakes' })
    expect(await mistakes.innerText()).toMatch(/TOP_K must be at least 1[\s\S]*prompt must be/)
    await expectAccessible(page)
    await goTo(page, 'Documents')
    await page.getByText('The server is not running').waitFor()

    await goTo(page, 'Settings')
    await findSetting(page, 'TOP_K')
    await page.getByLabel('TOP_K').fill('7')
    await press(page, 'Save')
    await page.getByText('Saved: TOP_K.').waitFor()
    await goTo(page, 'Agent')
    await page.getByText('to try the draft.').waitFor()
    await openCard(page, 'Advanced')
    await page.getByRole('textbox', { name: /agent\.json$/ }).fill('{"name": "desk"}')
    await press(page, 'Save')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText(/^Saved/).waitFor()
    await goTo(page, 'Overview')
    await page.getByText('All mistakes are fixed').waitFor()
    await press(page, 'Start')
    await page.getByRole('heading', { name: 'What works' }).waitFor({ timeout: 60_000 })
  })

  it('chooses a mode, stops, and launches in it', async () => {
    const server = await startServerProcess({ PORT: await freePort() })
    const { page } = await openWebUi(browser, server.url)
    // The mark moves once the server has saved it.
    await page.getByLabel('Knowledge').click()
    await page.getByText('Changed since the last start: SERVER_MODE.').waitFor()
    await press(page, 'Stop')
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped', { exact: true }).waitFor({ timeout: 60_000 })
    expect((await server.request('/query', { body: { query: 'x' } })).status).toBe(503)
    await press(page, 'Start')
    await page.getByRole('heading', { name: 'What works' }).waitFor({ timeout: 60_000 })
    expect(await (await server.request('/admin/server')).json()).toMatchObject({
      state: 'running',
      mode: 'knowledge',
      restart: { required: false },
    })
  })
})
