import { describe, expect, it } from 'vitest'
import { expectAccessible, hasBrowser, openWebUi, useBrowser } from '../support/browser.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { freePort, startServerProcess } from '../support/server-process.ts'
import { errorReply, textReply } from '../support/upstream-replies.ts'

const browser = useBrowser()

describe.skipIf(!hasBrowser)('Activity (needs Chromium)', () => {
  it('shows what happens at once, finds it, draws the last hour, and goes on after a restart', async () => {
    const server = await startServerProcess({ PORT: await freePort() })
    await server.ingest({ title: 'Owls', text: 'Owls hoot.' })
    const { page, complaints } = await openWebUi(browser, server.url, 'activity')
    const messages = [{ role: 'user', content: 'Who hoots?' }]
    await (await server.request('/chat', { body: { messages } })).text()
    const events = page.getByRole('region', { name: 'Events' }).getByRole('listitem')
    await events.filter({ hasText: 'POST /chat' }).waitFor()
    await page.getByRole('radio', { name: 'Runs' }).check()
    await events.filter({ hasText: 'Complete; first text after' }).waitFor()
    await page.getByRole('radio', { name: 'Failures' }).check()
    await page.getByText('No matching events').waitFor()
    await page.getByRole('radio', { name: 'All' }).check()
    await page.getByLabel('Filter events').fill('no such words')
    await page.getByText('No matching events').waitFor()
    await page.getByLabel('Filter events').fill('')
    const memory = page.getByRole('img', { name: /^Memory over the last hour: \d+ MB now/ })
    await memory.waitFor({ timeout: 30_000 })
    await memory.hover()
    await page.getByText(/^\d\d:\d\d:\d\d: \d+ MB$/).waitFor()
    const axis = page.locator('figure').filter({ has: memory }).locator('.graph-axis')
    expect(await axis.innerText()).toMatch(/1 h ago[\s\S]*now/)
    await expectAccessible(page)
    await page.emulateMedia({ colorScheme: 'dark' })
    await expectAccessible(page)
    expect(complaints).toEqual([])

    expect((await server.request('/admin/restart', { method: 'POST' })).status).toBe(202)
    await page.getByRole('alert').filter({ hasText: /\S/ }).waitFor({ timeout: 60_000 })
    await page
      .getByRole('alert')
      .filter({ hasText: /\S/ })
      .waitFor({ state: 'detached', timeout: 60_000 })
    await server.request('/query', { body: { query: 'owls' } })
    await events.filter({ hasText: 'POST /query' }).waitFor({ timeout: 30_000 })
    await events.filter({ hasText: 'POST /chat' }).waitFor()
  })

  it('is where the Overview leads when the last answer failed, until one succeeds', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    const ask = async () => {
      const messages = [{ role: 'user', content: 'Who hoots?' }]
      await (await server.request('/chat', { body: { messages } })).text()
    }
    upstream.script(errorReply(401), textReply('Owls.'))
    await ask()
    const { page } = await openWebUi(browser, server.url, 'overview')
    const attention = page.getByRole('region', { name: 'Needs attention' })
    await attention.getByText('Last answer failed').waitFor()
    await attention.getByText(/^Upstream unauthorized/).waitFor()
    await ask()
    await attention.waitFor({ state: 'detached' })
    await page.getByRole('region', { name: 'What works' }).getByText('scripted').waitFor()
  })
})
