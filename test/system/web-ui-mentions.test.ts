import { fileURLToPath } from 'node:url'
import { DocumentCreated } from '@agent-server/schemas/document.ts'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import {
  askOn,
  expectAccessible,
  goTo,
  hasBrowser,
  openWebUi,
  press,
  useBrowser,
} from '../support/browser.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { writeAgentFile } from '../support/temporary-files.ts'
import { textReply } from '../support/upstream-replies.ts'

const browser = useBrowser()
const SKILLS = fileURLToPath(new URL('../../skills', import.meta.url))

/** The documents whose titles have what is typed. */
const READ = /\/documents\?.*title=/

async function open(agent: object = {}) {
  const upstream = await startScriptedUpstream()
  upstream.always(textReply('At ten.'))
  const AGENT_CONFIG = await writeAgentFile(agent)
  const server = await startServer(modelAt(upstream, { AGENT_CONFIG }))
  await server.ingest({ title: 'Opening hours', text: 'The library opens at ten.' })
  await server.ingest({
    title: 'Handbook',
    text: 'Staff begin at nine.',
    metadata: { collection: 'handbooks' },
  })
  return { upstream, server, ...(await openWebUi(browser, server.url, 'chat')) }
}

const field = (page: Page) => page.getByLabel('Question', { exact: true })
const suggestions = (page: Page) => page.getByRole('listbox', { name: 'Suggestions' })
const chosen = (page: Page) => suggestions(page).getByRole('option', { selected: true })

describe.skipIf(!hasBrowser)('In a question (needs Chromium)', () => {
  it('a document is named from its own page, in a new conversation', async () => {
    const { page, upstream, complaints } = await open()
    upstream.always(textReply('At ten.'))
    await askOn(page, 'Who begins at nine?')
    await page.locator('.turn-foot').waitFor()
    await goTo(page, 'Documents')
    await page.getByRole('link', { name: 'Opening hours', exact: true }).click()
    await press(page, 'Ask about it')
    const beginning = 'What does “Opening hours” say about '
    await expect.poll(() => field(page).inputValue()).toBe(beginning)
    await page.keyboard.type('Saturdays?')
    await page.keyboard.press('Enter')
    await page.locator('.question', { hasText: `${beginning}Saturdays?` }).waitFor()
    expect(await page.locator('.question').count()).toBe(1)
    expect(complaints).toEqual([])
  })

  it('a document of one conversation is asked about there', async () => {
    const { page, server, complaints } = await open()
    await askOn(page, 'Who begins at nine?')
    await page.locator('.turn-foot').waitFor()
    const [, conversation = ''] = /chat\/(\w+)/.exec(page.url()) ?? []
    const body = { title: 'Minutes', text: 'The meeting began at eight.', conversation }
    const added = await server.request('/documents?wait=30', { body })
    const { id } = DocumentCreated.parse(await added.json())
    await press(page, 'New conversation')
    await page.goto(`${server.url}/#/documents/${id}`)
    await press(page, 'Ask about it')
    await expect.poll(() => field(page).inputValue()).toBe('What does “Minutes” say about ')
    expect(page.url()).toContain(`/chat/${conversation}`)
    await page.locator('.question', { hasText: 'Who begins at nine?' }).waitFor()
    expect(complaints).toEqual([])
  })

  it('# names a document by its title, and the keyboard is enough for it', async () => {
    const { page, complaints } = await open()
    await field(page).pressSequentially('What does #ope')
    await expect.poll(() => chosen(page).innerText()).toMatch(/^Opening hours\s+Document$/)
    await expectAccessible(page, 'mentions')
    const described = await field(page).getAttribute('aria-activedescendant')
    expect(await chosen(page).getAttribute('id')).toBe(described)
    await page.keyboard.press('Enter')
    await suggestions(page).waitFor({ state: 'detached' })
    expect(await field(page).inputValue()).toBe('What does “Opening hours” ')
    await page.keyboard.type('say?')
    expect(await field(page).inputValue()).toBe('What does “Opening hours” say?')
    // Escape leaves what is typed as it is, and Enter sends it then.
    await field(page).fill('')
    await field(page).pressSequentially('Who is #hand')
    await suggestions(page).waitFor()
    await page.keyboard.press('Escape')
    await suggestions(page).waitFor({ state: 'detached' })
    await page.keyboard.press('Enter')
    await page.locator('.question', { hasText: 'Who is #hand' }).waitFor()
    expect(complaints).toEqual([])
  })

  it('# limits the search to a collection, which a chip names and removes', async () => {
    const { page } = await open()
    await field(page).pressSequentially('When does it open? #')
    await suggestions(page).getByRole('option', { name: 'handbooks Collection' }).click()
    const chip = page.locator('.chip.scope')
    await chip.getByText('handbooks').waitFor()
    await expectAccessible(page, 'mentions scope')
    expect(await field(page).inputValue()).toBe('When does it open? ')
    const limited = page.waitForRequest((request) => request.url().endsWith('/chat'))
    await page.keyboard.press('Enter')
    expect((await limited).postDataJSON()).toMatchObject({ collection: 'handbooks' })
    await page.locator('.turn-foot').waitFor()
    await page.getByRole('button', { name: 'Remove handbooks' }).click()
    await chip.waitFor({ state: 'detached' })
    await field(page).fill('And now?')
    const all = page.waitForRequest((request) => request.url().endsWith('/chat'))
    await page.keyboard.press('Enter')
    expect((await all).postDataJSON()).not.toHaveProperty('collection')
  })

  it('what is typed on while entries are listed is kept, and Enter sends it', async () => {
    const { page } = await open({ skills: { sources: [SKILLS] } })
    const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route(READ, async (route) => {
      arrived.resolve()
      await released.promise
      await route.continue()
    })
    await field(page).pressSequentially('Which customers reported issue #')
    await suggestions(page).waitFor()
    const read = page.waitForResponse(READ)
    await page.keyboard.insertText('hand book, and why?')
    await arrived.promise
    await page.keyboard.press('Enter')
    const sent = 'Which customers reported issue #hand book, and why?'
    await page.locator('.question', { hasText: sent }).waitFor()
    released.resolve()
    await (await read).finished()
    await page.locator('.turn-foot').waitFor()
    // What has all that is typed in its name stays listed meanwhile.
    await field(page).pressSequentially('Where is #')
    await suggestions(page).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.insertText('OPEN')
    await page.keyboard.press('Tab')
    expect(await field(page).inputValue()).toBe('Where is “Opening hours” ')
    await field(page).fill('')
    await field(page).pressSequentially('/')
    await suggestions(page).waitFor()
    await page.keyboard.insertText('hours')
    await page.keyboard.press('Enter')
    await page.locator('.question', { hasText: '/hours' }).waitFor()
  })

  it('nothing is listed for a question that is sent by then', async () => {
    const { page } = await open()
    // In a conversation that goes on, the field stays the same.
    await askOn(page, 'Hours?')
    await page.locator('.turn-foot').waitFor()
    const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route(READ, async (route) => {
      arrived.resolve()
      await released.promise
      await route.continue()
    })
    await field(page).pressSequentially('Where is the #hand')
    const read = page.waitForResponse(READ)
    await arrived.promise
    await page.keyboard.press('Enter')
    await page.locator('.question', { hasText: 'Where is the #hand' }).waitFor()
    released.resolve()
    await (await read).finished()
    await page.locator('.turn-foot').nth(1).waitFor()
    expect(await suggestions(page).count()).toBe(0)
    expect(await field(page).inputValue()).toBe('')
  })

  it('what is chosen is in the field at once, the caret behind it', async () => {
    const { page } = await open({ skills: { sources: [SKILLS] } })
    await field(page).pressSequentially('/comp')
    await expect.poll(() => suggestions(page).getByRole('option').count()).toBe(1)
    // No frame is drawn between the key and what is read.
    const [text, caret] = await page.evaluate<[string, number]>(`(() => {
      const field = document.querySelector('textarea[aria-label="Question"]')
      field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Tab', bubbles: true }))
      return [field.value, field.selectionStart]
    })()`)
    expect(text).toBe('Use the skill “compare-documents”: ')
    expect(caret).toBe(text.length)
  })

  it('/ at its beginning lists the skills, and tells the model to use one', async () => {
    const { page, upstream } = await open({ skills: { sources: [SKILLS] } })
    await field(page).pressSequentially('/')
    await suggestions(page)
      .getByRole('option', { name: /^briefing .+ Skill$/ })
      .waitFor()
    await expectAccessible(page, 'mentions skills')
    await page.keyboard.type('comp')
    await expect.poll(() => suggestions(page).getByRole('option').count()).toBe(1)
    await page.keyboard.press('Tab')
    expect(await field(page).inputValue()).toBe('Use the skill “compare-documents”: ')
    await page.keyboard.type('hours')
    await page.keyboard.press('Enter')
    await page.locator('.turn-foot').waitFor()
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain(
      'Use the skill “compare-documents”: hours',
    )
    // A path is no skill.
    await field(page).pressSequentially('See /')
    await page.keyboard.press('Enter')
    await page.locator('.question', { hasText: 'See /' }).waitFor()
  })
})
