import { McpServer } from '@modelcontextprotocol/server'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  expectAccessible,
  goTo,
  hasBrowser,
  openCard,
  openWebUi,
  press,
  useBrowser,
} from '../support/browser.ts'
import { startHungServer, startModernServer } from '../support/mcp-servers.ts'
import { promptOf, toolResults } from '../support/model-request.ts'
import { startRestaurant } from '../support/restaurant.ts'
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'
import { hangReply, textReply, toolCallReply } from '../support/upstream-replies.ts'

const MAX_SHIFT = 0.05
/** Adds up how far the page moves by itself. */
const WATCH_SHIFT = `window.shift = 0
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value
}).observe({ type: 'layout-shift', buffered: true })`
const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
const OPEN_ALL = 'for (const part of document.querySelectorAll("main details")) part.open = true'

const browser = useBrowser()
let upstream: ScriptedUpstream
let server: TestServer
beforeAll(async () => {
  if (!hasBrowser) return
  upstream = await startScriptedUpstream()
  upstream.always(textReply('At night [1].'))
  server = await startServer(modelAt(upstream, { OUTBOUND_ALLOW: '127.0.0.1' }))
  await server.ingest({ title: 'Owls', text: 'Owls hunt at night.' })
  return async () => {
    await server.close()
    await upstream.close()
  }
})

const card = (page: Page, title: string) =>
  page.locator('.agent-card').filter({ has: page.getByRole('heading', { name: title, level: 2 }) })
const question = (page: Page) => page.getByLabel('Question to the draft')
const prompt = (page: Page) => page.getByLabel(/^Instructions for the agent/)
const written = async (page: Page) =>
  JSON.parse(
    await page.getByRole('textbox', { name: /agent\.json$/, includeHidden: true }).inputValue(),
  )

async function tryDraft(page: Page, asked: string): Promise<void> {
  await question(page).fill(asked)
  await page.keyboard.press('Enter')
}

describe.skipIf(!hasBrowser)('The cards of the agent (need Chromium)', () => {
  it('show their state in words, and switch what is named', async () => {
    const { page, complaints } = await openWebUi(browser, server.url, 'agent')
    await card(page, 'Prompt').getByText('Only the server’s own rules').waitFor()
    await prompt(page).fill('Answer like a librarian.')
    await card(page, 'Prompt').getByText('Your instructions, 4 words').waitFor()
    await openCard(page, 'Tools')
    await page.getByLabel('Run Python in the sandbox').uncheck()
    await page.getByLabel('Ask before each call of tabular_data').check()
    await card(page, 'Tools').getByText('6 of 7 on, 1 asking first').waitFor()
    await openCard(page, 'Sandbox')
    await page.getByLabel('Where code is run').selectOption('none')
    await card(page, 'Sandbox').getByText('No code is run', { exact: true }).waitFor()
    await card(page, 'MCP').getByText('No connections').waitFor()
    expect(await written(page)).toEqual({
      prompt: 'Answer like a librarian.',
      tools: { run_python: false, tabular_data: { approval: 'always' } },
      sandbox: 'none',
    })
    await page.getByLabel('Ask before each call of tabular_data').uncheck()
    expect(await written(page)).toMatchObject({ tools: { tabular_data: true } })
    expect(complaints).toEqual([])
  })

  it('stay as they are while the text is no JSON', async () => {
    const { page } = await openWebUi(browser, server.url, 'agent')
    await openCard(page, 'Advanced')
    const text = page.getByRole('textbox', { name: /agent\.json$/ })
    await text.fill('{ "prompt": "Be brief." }')
    const before = await text.boundingBox()
    await text.fill('{ "prompt": "Be brief." ')
    await page.getByText('The cards can be used again once this is valid JSON.').waitFor()
    expect(await text.boundingBox()).toEqual(before)
    expect(await prompt(page).inputValue()).toBe('Be brief.')
    expect(await page.locator('.agent-cards[inert]').count()).toBe(1)
    await text.fill('{}')
    await page.locator('.agent-cards[inert]').waitFor({ state: 'detached' })
  })

  it('check the name and the address of an MCP server while they are typed', async () => {
    const { page } = await openWebUi(browser, server.url, 'agent')
    await openCard(page, 'MCP')
    const name = page.getByLabel('Name', { exact: true })
    const url = page.getByLabel('URL', { exact: true })
    await name.fill('my docs')
    await page.getByText('Only letters A to Z and digits').waitFor()
    await url.fill('ftp://127.0.0.1/mcp')
    await page.getByText('A URL that begins with http:// or https://').waitFor()
    await press(page, 'Add connection')
    expect(await written(page)).not.toHaveProperty('mcpServers')
    await name.fill('docs')
    await url.fill('http://127.0.0.1:9/mcp')
    await press(page, 'Add connection')
    expect(await written(page)).toMatchObject({ mcpServers: { docs: { enabled: false } } })
    await name.fill('docs')
    await page.getByText('There is a connection with this name already.').waitFor()
    await card(page, 'MCP').getByText('0 of 1 on').waitFor()
    const added = page.getByLabel('URL of docs')
    await added.fill('ftp://127.0.0.1:9/mcp')
    await page.getByText('A URL that begins with http:// or https://').waitFor()
    await added.fill('http://127.0.0.1:9/other')
    expect(await written(page)).toMatchObject({
      mcpServers: { docs: { url: 'http://127.0.0.1:9/other', enabled: false } },
    })
  })

  it('are discarded only after a question', async () => {
    const { page } = await openWebUi(browser, server.url, 'agent')
    await prompt(page).fill('Answer like a librarian.')
    const dialog = page.getByRole('dialog')
    await press(page, 'Discard')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await prompt(page).inputValue()).toBe('Answer like a librarian.')
    await goTo(page, 'Documents')
    await goTo(page, 'Agent')
    const note = page.getByText('Your changes are not saved yet.')
    await note.waitFor()
    await press(page, 'Discard')
    await dialog.getByRole('button', { name: 'Discard' }).click()
    await note.waitFor({ state: 'detached' })
    await expect.poll(() => prompt(page).inputValue()).toBe('')
  })

  it('allow a private address where a test asks for it, and cancel a test that hangs', async () => {
    const hung = await startHungServer()
    const modern = await startModernServer(() => {
      const offered = new McpServer({ name: 'ours', version: '1.0.0' }, {})
      offered.registerTool('hello', { description: 'Says hello' }, () => ({ content: [] }))
      return offered
    })
    const own = await startServer()
    const { page } = await openWebUi(browser, own.url, 'agent')
    await openCard(page, 'MCP')
    const steps = page.getByRole('list', { name: 'Steps' })
    await page.getByLabel('Name', { exact: true }).fill('ours')
    await page.getByLabel('URL', { exact: true }).fill(modern.url)
    await press(page, 'Add connection')
    await press(page, 'Test ours')
    await steps.getByText('127.0.0.1 is not a public address').waitFor()
    await press(page, 'Allow 127.0.0.1')
    await page.getByRole('list', { name: 'Tools of the server' }).getByText('Says hello').waitFor()
    expect(await (await own.request('/admin/settings')).text()).toContain('"value":"127.0.0.1"')
    await expectAccessible(page)

    // With another address, what was found of the first is gone.
    await openCard(page, 'Advanced')
    const text = page.getByRole('textbox', { name: /agent\.json$/ })
    await text.fill(JSON.stringify({ mcpServers: { ours: { url: `${hung.url}/mcp` } } }))
    await steps.waitFor({ state: 'detached' })
    const test = page.getByRole('button', { name: 'Test ours' })
    await test.click()
    await page.getByText('Connecting').waitFor()
    await press(page, 'Cancel the test of ours')
    await page.getByText('Connecting').waitFor({ state: 'detached' })
    expect(await test.isEnabled()).toBe(true)
    expect(await steps.count()).toBe(0)
  })
})

describe.skipIf(!hasBrowser)('A draft of the agent (needs Chromium)', () => {
  it('is tried beside the cards, stays until somebody starts over, and saves nothing', async () => {
    const { page, complaints } = await openWebUi(browser, server.url, 'agent')
    const before = await (await server.request('/admin/agent')).text()
    await prompt(page).fill('Answer like a sailor.')
    const asked = upstream.nextRequest()
    await tryDraft(page, 'When do owls hunt?')
    const answers = page.getByRole('log', { name: 'Answers' })
    await answers.getByText('At night').waitFor()
    await answers.getByText('1 source').waitFor()
    expect(promptOf(await asked, 'system')).toContain('Answer like a sailor.')
    expect(await (await server.request('/admin/agent')).text()).toBe(before)
    await prompt(page).fill('Answer like a pilot.')
    await answers.getByText('The configuration has changed since this answer.').waitFor()

    await goTo(page, 'Documents')
    await page.getByRole('heading', { name: 'Documents', level: 1 }).waitFor()
    await goTo(page, 'Agent')
    await page.getByText('Your changes are not saved yet.').waitFor()
    expect(await prompt(page).inputValue()).toBe('Answer like a pilot.')
    const again = upstream.nextRequest()
    await tryDraft(page, 'And herons?')
    const { body } = await again
    expect(JSON.stringify(body)).toMatch(/When do owls hunt\?.*At night.*And herons\?/s)
    await answers.getByText('At night').nth(1).waitFor()
    await press(page, 'Start over')
    expect(await answers.getByRole('article').count()).toBe(0)
    expect(complaints).toEqual([])
  })

  it('is asked, stopped and read with the keyboard alone', async () => {
    const { page } = await openWebUi(browser, server.url, 'agent')
    await question(page).focus()
    await page.keyboard.type('When do owls hunt?')
    await page.keyboard.press('Enter')
    const citation = page.getByRole('log').locator('button.citation')
    await citation.focus()
    await page.keyboard.press('Enter')
    await page.locator('.reader').getByText('Owls hunt at night.').waitFor()
    await page.keyboard.press('Escape')
    await page.locator('.reader').waitFor({ state: 'detached' })
    await expect.poll(() => page.evaluate('document.activeElement.className')).toContain('citation')

    upstream.script(hangReply())
    const asked = upstream.nextRequest()
    await question(page).focus()
    await page.keyboard.type('And herons?')
    await page.keyboard.press('Enter')
    const { closed } = await asked
    await page.keyboard.press('Escape')
    await page.getByText('Stopped.').waitFor()
    await closed
  })

  it('asks before a call that is to be approved, and names what it cannot use', async () => {
    const { page } = await openWebUi(browser, server.url, 'agent')
    await openCard(page, 'Advanced')
    await page.getByRole('textbox', { name: /agent\.json$/ }).fill(
      JSON.stringify({
        tools: { semantic_search: { approval: 'always' } },
        skills: { sources: ['./nowhere'] },
      }),
    )
    await page.getByRole('button', { name: 'Save', disabled: false }).waitFor()
    upstream.script(toolCallReply({ name: 'semantic_search', arguments: { query: 'owls' } }))
    await tryDraft(page, 'When do owls hunt?')
    await page.getByRole('list', { name: 'Not available' }).getByText('./nowhere').waitFor()
    // By then the first request has been answered.
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor()
    const asked = upstream.nextRequest()
    await press(page, 'Approve')
    expect(toolResults(await asked).join()).toContain('Owls hunt at night.')
    await page.getByRole('log').locator('.answer').getByText('At night').waitFor()
  })

  it('passes on what an MCP server asks, as a form', async () => {
    const restaurant = await startRestaurant()
    const { page } = await openWebUi(browser, server.url, 'agent')
    await openCard(page, 'Advanced')
    await page
      .getByRole('textbox', { name: /agent\.json$/ })
      .fill(JSON.stringify({ mcpServers: { table: { url: restaurant.url } } }))
    await page.getByRole('button', { name: 'Save', disabled: false }).waitFor()
    upstream.script(toolCallReply({ name: 'mcp__table__book', arguments: {} }))
    await tryDraft(page, 'Book a table')
    await page.getByText('For how many, and when?').waitFor()
    await expectAccessible(page)
    await press(page, 'Send')
    expect(await page.locator('form.note input:invalid').count()).toBe(2)
    await page.getByLabel('Guests', { exact: true }).fill('2')
    await page.getByLabel('Day', { exact: true }).fill('2026-12-01')
    await page.getByLabel('Seat (optional)').selectOption('outside')
    await page.getByLabel('Quiet table').check()
    await page.setViewportSize({ width: 390, height: 800 })
    expect(await page.evaluate(OVERFLOW)).toBeLessThanOrEqual(0)
    await press(page, 'Send')
    await page.getByRole('log').locator('.answer').getByText('At night').waitFor()
    const content = { guests: 2, when: '2026-12-01', seat: 'outside', quiet: true }
    expect(restaurant.told).toEqual([{ answer: { action: 'accept', content }, state: 'table 7' }])
  })

  it('is not asked while it has mistakes, and keeps a question that is refused', async () => {
    const { page } = await openWebUi(browser, server.url, 'agent')
    await openCard(page, 'Advanced')
    await page.getByRole('textbox', { name: /agent\.json$/ }).fill('{ "sandbox": "cellar" }')
    await page.getByRole('list', { name: 'Mistakes in Sandbox' }).waitFor()
    await page.getByText('Correct the mistakes in the configuration first.').waitFor()
    await tryDraft(page, 'When do owls hunt?')
    expect(await page.getByRole('log').getByRole('article').count()).toBe(0)
    await page.getByRole('textbox', { name: /agent\.json$/ }).fill('{}')
    await page.getByText('Correct the mistakes').waitFor({ state: 'detached' })
    await page.route('**/admin/agent/chat', (route) => route.abort())
    await page.keyboard.press('Tab')
    await question(page).press('Enter')
    await page.getByText('The server does not respond.').waitFor()
    expect(await question(page).inputValue()).toBe('When do owls hunt?')
  })
})

describe.skipIf(!hasBrowser).each(['light', 'dark'] as const)(
  'The page Agent in %s (needs Chromium)',
  (colorScheme) => {
    it.each([1280, 390])('is accessible, fits and stands still at %i pixels', async (width) => {
      const viewport = { width, height: 844 }
      const { page } = await openWebUi(browser, server.url, 'agent', { colorScheme, viewport })
      await page.addInitScript(WATCH_SHIFT)
      await page.reload()
      await card(page, 'Skills').getByText(/on$/).waitFor()
      expect(await page.evaluate('window.shift')).toBeLessThanOrEqual(MAX_SHIFT)
      if (width === 390) await press(page, 'Try the draft')
      await tryDraft(page, 'When do owls hunt?')
      await page.getByRole('log').getByText('1 source').waitFor()
      await page.evaluate(OPEN_ALL)
      await expectAccessible(page)
      expect(await page.evaluate(OVERFLOW)).toBeLessThanOrEqual(0)
    })
  },
)
