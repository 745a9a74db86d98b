import { AgentFile } from '@agent-server/schemas/operator/admin.ts'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import {
  expectAccessible,
  hasBrowser,
  openCard,
  openWebUi,
  useBrowser,
} from '../support/browser.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { freePort, startServerProcess } from '../support/server-process.ts'

const SECRET = 'sk-a-secret-that-nobody-may-see-1234'

const browser = useBrowser()

const save = (page: Page) => page.getByRole('button', { name: 'Save' }).first().click()

const openSection = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name }).click()

/** Writes a configuration and confirms the difference. */
async function saveAgent(page: Page, text: string): Promise<void> {
  await openCard(page, 'Advanced')
  await page.getByRole('textbox', { name: /agent\.json$/ }).fill(text)
  await page.getByRole('button', { name: 'Save', disabled: false }).waitFor()
  await save(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
}

/** Saves more versions than are kept, and takes over the oldest that is left. */
async function goBack(page: Page, server: TestServer): Promise<void> {
  const read = async () => AgentFile.parse(await (await server.request('/admin/agent')).json())
  for (let number = 0; number < 12; number += 1) {
    const text = `{ "prompt": "Version ${number}." }`
    const body = { text, basedOn: (await read()).digest }
    expect((await server.request('/admin/agent', { method: 'PUT', body })).status).toBe(200)
  }
  await page.reload()
  await openCard(page, 'Advanced')
  const versions = page.getByRole('region', { name: 'Earlier versions' }).getByRole('listitem')
  await versions.first().waitFor()
  expect(await versions.count()).toBe(10)
  await versions.last().getByRole('button', { name: 'Restore' }).click()
  await save(page)
  const dialog = page.getByRole('dialog', { name: 'Save these changes?' })
  const [, removed, added] =
    /^− (.*)\n\+ (.*)\n/.exec(await dialog.locator('pre').innerText()) ?? []
  expect(removed).toBe('{ "prompt": "Version 11." }')
  expect(added).toMatch(/^\{ "prompt": "Version [1-9]\." \}$/)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved: prompt.').waitFor()
  expect((await read()).text).toBe(added)
}

describe.skipIf(!hasBrowser)('Agent, settings and restart (needs Chromium)', () => {
  it('names every mistake, saves after showing the difference, and warns the second of two editors', async () => {
    const server = await startServerProcess()
    const { page, complaints } = await openWebUi(browser, server.url, 'agent')
    const other = await openWebUi(browser, server.url, 'agent')
    const field = page.getByRole('textbox', { name: /agent\.json$/ })
    await openCard(page, 'Advanced')
    await field.fill('{ "prompt": 7 }')
    const mistakes = page.getByRole('list', { name: 'Mistakes in Prompt' })
    expect(await mistakes.innerText()).toContain('prompt')
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)

    await saveAgent(page, '{ "prompt": "Answer like a librarian." }')
    await page.getByText('Saved: prompt.').waitFor()
    await page.getByText('It applies to the next question.').waitFor()
    expect(await page.getByText('Restart needed').count()).toBe(0)
    await page.getByText('Complete system message with this configuration').click()
    await page.getByText('Answer like a librarian.').last().waitFor()
    await expectAccessible(page)
    expect(complaints).toEqual([])

    // What was typed is checked after it was refused, and the refusal stays.
    const refused = other.page.waitForResponse((answer) => answer.request().method() === 'PUT')
    await other.page.route('**/agent/check', async (route) => {
      await refused
      await route.continue()
    })
    await saveAgent(other.page, '{ "prompt": "Answer like a sailor." }')
    const refusal = other.page.getByRole('alert').filter({ hasText: /\S/ })
    await refusal.waitFor()
    await other.page.getByText('Complete system message with this configuration').click()
    await other.page.locator('pre', { hasText: 'Answer like a sailor.' }).waitFor()
    expect(await refusal.isVisible()).toBe(true)
    expect(await refusal.innerText()).toContain('Your changes are still here')
    expect(await (await server.request('/admin/agent')).text()).toContain('librarian')
    // Against what is saved by now.
    await save(other.page)
    const difference = other.page.getByRole('dialog').locator('pre')
    expect(await difference.innerText()).toMatch(/− .*librarian.*\n\+ .*sailor/)
    await goBack(page, server)
    expect(complaints).toEqual([])
  })

  it('asks before an earlier version takes the place of changes', async () => {
    const server = await startServer()
    for (const prompt of ['First.', 'Second.']) {
      const { digest } = AgentFile.parse(await (await server.request('/admin/agent')).json())
      const body = { text: JSON.stringify({ prompt }), basedOn: digest }
      expect((await server.request('/admin/agent', { method: 'PUT', body })).status).toBe(200)
    }
    const { page } = await openWebUi(browser, server.url, 'agent')
    await openCard(page, 'Advanced')
    const prompt = page.getByLabel(/^Instructions for the agent/)
    const dialog = page.getByRole('dialog', { name: 'Replace your changes?' })
    await prompt.fill('Third.')
    await page.getByRole('button', { name: /^Restore/ }).click()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await prompt.inputValue()).toBe('Third.')
    await page.getByRole('button', { name: /^Restore/ }).click()
    await dialog.getByRole('button', { name: 'Replace' }).click()
    expect(await prompt.inputValue()).toBe('First.')
  })

  it('keeps what is typed while the text before is saved', async () => {
    const { page } = await openWebUi(browser, (await startServer()).url, 'agent')
    const field = page.getByRole('textbox', { name: /agent\.json$/ })
    const typed = '{ "prompt": "More." }'
    await page.route('**/admin/agent', async (route) => {
      if (route.request().method() === 'PUT') await field.fill(typed)
      await route.continue()
    })
    await saveAgent(page, '{ "prompt": "First." }')
    await page.getByText('Saved: prompt.').waitFor()
    expect(await field.inputValue()).toBe(typed)
    await page.getByRole('button', { name: 'Save', disabled: false }).waitFor()
  })

  it('sets a variable and a secret that is never shown again', async () => {
    const server = await startServerProcess()
    const { page, complaints } = await openWebUi(browser, server.url, 'settings')
    await openSection(page, 'Knowledge')
    await page.getByLabel('TOP_K').fill('0')
    await save(page)
    await page
      .getByRole('alert')
      .filter({ hasText: /^TOP_K: must be at least 1$/ })
      .waitFor()
    await page.getByLabel('TOP_K').fill('8')
    await openSection(page, 'Chat model')
    await page.getByLabel(/\bCHAT_API_KEY$/).fill(SECRET)
    await save(page)
    await page
      .getByText('Saved: TOP_K, CHAT_API_KEY.')
      .or(page.getByText('Saved: CHAT_API_KEY, TOP_K.'))
      .waitFor()
    expect(await page.getByLabel(/\bCHAT_API_KEY$/).inputValue()).toBe('')
    expect(await page.content()).not.toContain(SECRET)
    await openSection(page, 'Server')
    expect(await page.getByLabel(/\bPORT$/).getAttribute('readonly')).not.toBeNull()
    await expectAccessible(page)
    expect(complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([])
  })

  it('restarts in its place, and the page goes on with its session', async () => {
    // Another start would take another port, where it could choose.
    const PORT = await freePort()
    const server = await startServerProcess({ PORT })
    const { page } = await openWebUi(browser, server.url, 'settings/knowledge')
    await page.getByLabel('TOP_K').fill('8')
    await save(page)
    const banner = page.getByRole('status').filter({ hasText: 'Restart needed' })
    await banner.getByText('Changed since the last start: TOP_K.').waitFor()
    await banner.getByRole('button', { name: 'Restart' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click()
    await banner.waitFor({ state: 'detached', timeout: 60_000 })
    await page.getByText('This page reconnects automatically').waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
    expect(await page.getByLabel('TOP_K').inputValue()).toBe('8')
  })
})
