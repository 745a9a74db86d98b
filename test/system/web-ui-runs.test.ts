import { describe, expect, it } from 'vitest'
import {
  askOn,
  expectAccessible,
  goTo,
  hasBrowser,
  openWebUi,
  useBrowser,
} from '../support/browser.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { startServerProcess } from '../support/server-process.ts'
import { errorReply, textReply, toolCallReply } from '../support/upstream-replies.ts'

const browser = useBrowser()

describe.skipIf(!hasBrowser)('The view of a run (needs Chromium)', () => {
  it('is opened from an answer and from its event, and shows what led to the answer', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServerProcess(modelAt(upstream))
    await server.ingest({ title: 'Owls', text: 'Owls hunt at night.' })
    const { page, complaints } = await openWebUi(browser, server.url, 'chat')
    const search = { name: 'semantic_search', arguments: { query: 'owls' } }
    upstream.script(toolCallReply(search), textReply('They hunt at night [1].'))
    await askOn(page, 'When do owls hunt?')
    await page.locator('.answer', { hasText: 'They hunt at night' }).waitFor()
    await page.getByRole('link', { name: 'Show run' }).click()
    await page.getByRole('heading', { name: 'Run', level: 1 }).waitFor()

    await page.getByRole('heading', { name: '2 searches' }).waitFor()
    const first = page.locator('details', { hasText: '“When do owls hunt?”: 1 passage' })
    await first.getByText('Owls hunt at night.').waitFor()
    await first.getByText('Lexical', { exact: true }).waitFor()
    await page.getByText('Searched the documents for “owls”: 1 passage').click()
    const call = page.locator('.steps details[open]')
    expect(await call.locator('.step-input').innerText()).toMatch(/^query\s+owls$/)
    await call.getByText('Owls hunt at night.').waitFor()
    expect(await call.locator('summary').innerText()).toMatch(/\d+(?:\.\d)? m?s$/)
    await page.getByText('22 read, 14 written').waitFor()
    await page.getByText(/^Call 1: /).click()
    await page
      .getByText(/<passages>\s+\[1\] Owls hunt at night\./)
      .first()
      .waitFor()
    await page.getByText(/^Call 2: .*, stop$/).click()
    await page.getByText('Starts with the 4 messages of the previous call.').waitFor()
    await expectAccessible(page)
    await page.emulateMedia({ colorScheme: 'dark' })
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Open in the chat' }).click()
    await page.locator('.answer', { hasText: 'They hunt at night' }).waitFor()

    await goTo(page, 'Activity')
    await page.getByRole('radio', { name: 'Runs' }).check()
    await page.getByRole('link', { name: 'Show run' }).first().click()
    await page.getByRole('heading', { name: '2 model calls' }).waitFor()
    await page.goto(`${server.url}/#/activity/run_unknown`)
    await page.getByText('This run is no longer available').waitFor()
    expect(complaints.filter((text) => !text.includes('404'))).toEqual([])
  })

  it('shows why it failed', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    const { page } = await openWebUi(browser, server.url, 'chat')
    upstream.always(errorReply(401, 'Wrong key'))
    await askOn(page, 'When do owls hunt?')
    await page.getByRole('link', { name: 'Show run' }).click()
    await page.getByRole('heading', { name: 'Run', level: 1 }).waitFor()
    await page.getByRole('alert').getByText('upstream_unauthorized').waitFor()
    await page.getByText('Call 1: did not finish').waitFor()
    await expectAccessible(page)
  })
})
