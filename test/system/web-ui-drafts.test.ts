import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { goTo, hasBrowser, openCard, openWebUi, press, useBrowser } from '../support/browser.ts'
import { startServer, TEST_KEY } from '../support/server.ts'
import { ROOT } from '../support/source-tree.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const browser = useBrowser()
const server = await startServer({}, { given: { SERVER_API_KEY: TEST_KEY } })

describe.skipIf(!hasBrowser)('What is not saved yet (needs Chromium)', () => {
  it('stays on the page Agent while others are looked at, until somebody signs out', async () => {
    const { page } = await openWebUi(browser, server.url, 'agent')
    const text = page.locator('.code-field')
    await expect.poll(() => text.inputValue()).toContain('prompt')
    await openCard(page, 'Advanced')
    await text.fill('{ "prompt": "Half a pro" }')
    await goTo(page, 'Documents')
    await page.getByRole('heading', { name: 'Documents', level: 1 }).waitFor()
    await goTo(page, 'Agent')
    await expect.poll(() => text.inputValue()).toContain('Half a pro')
    await page.getByText('not saved yet').waitFor()
    await press(page, 'Sign out')
    await page.getByRole('dialog').getByText('Changes that are not saved').waitFor()
    await press(page, 'Sign out anyway')
    await page.getByLabel('Server key').fill(TEST_KEY)
    await press(page, 'Sign in')
    await expect.poll(() => text.inputValue()).toContain('"prompt": ""')
  })

  it('stays on Settings and Models, which share it, and the browser asks before it is left', async () => {
    const { page, complaints } = await openWebUi(browser, server.url, 'settings/knowledge')
    await page.getByLabel('TOP_K').fill('7')
    await goTo(page, 'Models')
    await page.getByText('Changed: TOP_K').waitFor()
    await page.getByLabel('CHAT_MODEL').fill('typed')
    await goTo(page, 'Settings')
    await page.getByText('Changed: TOP_K, CHAT_MODEL').waitFor()
    const sections = page.getByRole('navigation', { name: 'Sections' })
    await sections.getByRole('link', { name: 'Chat model 1 changed' }).waitFor()
    await sections.getByRole('link', { name: 'Knowledge 1 changed' }).click()
    expect(await page.getByLabel('TOP_K').inputValue()).toBe('7')
    await page.evaluate('location.reload()').catch(() => undefined)
    await expect.poll(() => complaints.join()).toContain('dialog')
    expect(await page.getByLabel('TOP_K').inputValue()).toBe('7')
    await press(page, 'Discard')
    await page.reload()
    expect(await page.getByLabel('TOP_K').inputValue()).not.toBe('7')
  })

  it('are files on their way, which the browser asks about before the page is left', async () => {
    const { page, complaints } = await openWebUi(browser, server.url, 'documents')
    const held = Promise.withResolvers<void>()
    await page.route('**/ui/api/documents**', async (route) => {
      if (route.request().method() === 'POST') await held.promise
      await route.continue()
    })
    await page.getByRole('radio', { name: /^Ready/ }).check()
    const owls = { name: 'owls.txt', mimeType: 'text/plain', buffer: Buffer.from('Owls hoot.') }
    await page.locator('input[type=file]').first().setInputFiles(owls)
    await page.getByText('Sending 1 file').waitFor()
    await page.evaluate('location.reload()').catch(() => undefined)
    await expect.poll(() => complaints.join()).toContain('dialog')
    held.resolve()
    await page.getByText('1 file sent').waitFor()
    const asked = complaints.length
    await page.reload()
    await page.getByRole('heading', { name: 'Documents', level: 1 }).waitFor()
    expect(complaints).toHaveLength(asked)
  })
})

describe.skipIf(!hasBrowser)('Skills (need Chromium)', () => {
  it('that come with the server are shown, and stay when another source is added', async () => {
    const directory = await temporaryDirectory()
    const skills = fileURLToPath(new URL('skills', ROOT))
    await cp(skills, join(directory, 'skills'), { recursive: true })
    await mkdir(join(directory, 'others'))
    await cp(join(skills, 'briefing'), join(directory, 'others', 'briefing'), { recursive: true })
    const own = await startServer({ AGENT_CONFIG: join(directory, 'agent.json') })
    const { page } = await openWebUi(browser, own.url, 'agent')
    await page.getByText(/agent\.json does not exist, .* Saving creates the file/).waitFor()
    await openCard(page, 'Skills')
    const found = page.getByRole('list', { name: 'Skills found' })
    for (const name of ['briefing', 'compare-documents', 'timeline']) {
      await found.getByText(name, { exact: true }).waitFor()
    }
    await page.getByLabel('URL, folder relative').fill('others')
    await press(page, 'Add skill')
    const text = await page.locator('.code-field').inputValue()
    expect(JSON.parse(text)).toMatchObject({ skills: { sources: ['skills', 'others'] } })
    await press(page, 'Check skills')
    await expect.poll(() => found.getByRole('listitem').count()).toBe(4)
    // Only of remote sources is there a copy that was accepted.
    expect(await page.getByRole('button', { name: /^Accept/ }).count()).toBe(0)
    await press(page, 'Remove skills')
    await expect.poll(() => found.getByRole('listitem').count()).toBe(0)
  })
})
