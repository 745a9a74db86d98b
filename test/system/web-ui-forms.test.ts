import { fileURLToPath } from 'node:url'
import { SandboxReport } from '@agent-server/schemas/sandbox.ts'
import { McpServer } from '@modelcontextprotocol/server'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { PROBES } from '../../packages/sandboxes/src/probes.ts'
import {
  expectAccessible,
  findSetting,
  goTo,
  hasBrowser,
  openCard,
  openWebUi,
  useBrowser,
} from '../support/browser.ts'
import { connections, poll, settled, startWith } from '../support/mcp-connections.ts'
import { startGuardedServer, startHungServer, startModernServer } from '../support/mcp-servers.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { startServer, TEST_KEY, type TestServer } from '../support/server.ts'
import { ROOT } from '../support/source-tree.ts'
import { errorReply } from '../support/upstream-replies.ts'

const LONG_NAME = `${'long'.repeat(40)}.txt`
const HOSTILE = '<img src=x onerror=alert(1)>'

const browser = useBrowser()
let server: TestServer
let modelUrl: string
beforeAll(async () => {
  if (!hasBrowser) return
  const upstream = await startScriptedUpstream()
  upstream.always(errorReply(401, 'The key is invalid'))
  modelUrl = upstream.url
  // Nobody listens at that API.
  const outbound = { OUTBOUND_ALLOW: '127.0.0.1', E2B_API_URL: 'http://127.0.0.1:9' }
  const given = { ...outbound, SERVER_API_KEY: TEST_KEY, DOCS_KEY: 'a key that nobody looks at' }
  server = await startServer(outbound, { given })
  return async () => {
    await server.close()
    await upstream.close()
  }
})

const agentText = (page: Page) => page.getByRole('textbox', { name: /agent\.json$/ })

async function askFor(page: Page, expected: RegExp): Promise<void> {
  await page.getByLabel('Question', { exact: true }).fill('A name without a place to break it')
  await page.keyboard.press('Enter')
  await page.getByText(expected).first().waitFor()
}

/** What a page shows once it is used, which is wider than what it shows at first. */
const FILLED: Record<string, (page: Page) => Promise<void>> = {
  Search: (page) => askFor(page, /found in/),
  Chat: (page) => askFor(page, /^\d+ (?:sources? cited|passages? found)$/),
  async Models(page) {
    await page.getByLabel('CHAT_MODEL').fill('extractive')
    await page.getByRole('button', { name: 'Test Chat' }).click()
    await page.getByText(/extractive works/).waitFor()
  },
}

describe.skipIf(!hasBrowser)('The forms (needs Chromium)', () => {
  it('write into agent.json, keep its order, and try what is not saved', async () => {
    const hung = await startHungServer()
    const { page, complaints } = await openWebUi(browser, server.url, 'agent')
    await openCard(page, 'Advanced')
    await agentText(page).fill('{"name": "desk", "prompt": "Be brief."}')
    await openCard(page, 'Tools')
    await page.getByLabel(/^Run Python/).uncheck()
    await page.getByLabel('Seconds for one question').fill('20')
    await openCard(page, 'Skills')
    await page.getByLabel(/^URL, folder/).fill('./nowhere')
    await page.getByRole('button', { name: 'Add skill' }).click()
    await page.getByRole('button', { name: 'Check skills' }).click()
    await page.getByRole('list', { name: 'Skills found' }).getByText('unavailable').waitFor()

    await openCard(page, 'MCP')
    await page.getByLabel('Name', { exact: true }).fill('slow')
    await page.getByLabel('URL', { exact: true }).fill(`${hung.url}/mcp`)
    await page.getByLabel(/bearer token/).fill('DOCS_KEY')
    await page.getByRole('button', { name: 'Add connection' }).click()
    expect(JSON.parse(await agentText(page).inputValue())).toEqual({
      name: 'desk',
      prompt: 'Be brief.',
      tools: { run_python: false },
      limits: { seconds: 20 },
      skills: { sources: ['skills', './nowhere'] },
      mcpServers: {
        slow: {
          url: `${hung.url}/mcp`,
          headers: { Authorization: `Bearer \${DOCS_KEY}` },
          enabled: false,
        },
      },
    })
    expect(await agentText(page).inputValue()).toMatch(
      /^\{\n {2}"name"[\s\S]*"prompt"[\s\S]*"tools"/,
    )
    await page.getByRole('button', { name: 'Test slow' }).click()
    // It is told, and the page goes on meanwhile.
    await page.getByText('Connecting').waitFor()
    await page.getByLabel('Enabled slow').check()
    await page.getByRole('list', { name: 'Steps' }).getByText('Fails').waitFor({ timeout: 90_000 })
    await expectAccessible(page)
    await hung.stop()
    expect(complaints).toEqual([])
  }, 120_000)

  it('test a connection that asks for OAuth, once its secret is set', async () => {
    const modern = await startModernServer(() => {
      const offered = new McpServer({ name: 'guarded', version: '1.0.0' }, {})
      offered.registerTool('hello', { description: 'Says hello' }, () => ({ content: [] }))
      return offered
    })
    const guarded = await startGuardedServer(modern.url)
    const { url } = await startServer({ OUTBOUND_ALLOW: '127.0.0.1' })
    const { page, complaints } = await openWebUi(browser, url, 'agent')
    const test = async () => {
      await openCard(page, 'MCP')
      await page.getByRole('button', { name: 'Test guarded' }).click()
      return page.getByRole('list', { name: 'Steps' }).innerText()
    }
    await openCard(page, 'Advanced')
    await agentText(page).fill('{}')
    await openCard(page, 'MCP')
    await page.getByLabel('Name', { exact: true }).fill('guarded')
    await page.getByLabel('URL', { exact: true }).fill(guarded.url)
    await page.getByLabel(/^OAuth client,/).fill('agent')
    await page.getByLabel(/OAuth client’s secret/).fill('GUARDED_SECRET')
    await page.getByLabel(/^OAuth server/).fill(guarded.issuer)
    await page.getByRole('button', { name: 'Add connection' }).click()
    await page.getByRole('button', { name: 'Save', disabled: false }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved: mcpServers.').waitFor()
    await openCard(page, 'MCP')
    expect(await test()).toMatch(/Fails\s+.*GUARDED_SECRET/)
    expect(guarded.seen).toEqual([])

    await goTo(page, 'Settings')
    await findSetting(page, 'GUARDED_SECRET')
    await page.getByLabel(/\bGUARDED_SECRET$/).fill('not-to-be-seen')
    await page.getByRole('button', { name: 'Save' }).first().click()
    await page.getByText('Saved: GUARDED_SECRET.').waitFor()
    await goTo(page, 'Agent')
    expect(await test()).not.toContain('Fails')
    await page.getByRole('list', { name: 'Tools of the server' }).getByText('Says hello').waitFor()
    expect(guarded.seen.join()).toContain('POST /token')
    expect(await page.content()).not.toContain('not-to-be-seen')
    expect(complaints).toEqual([])
  })

  it('verify the chosen sandbox, and list what holds and what does not', async () => {
    const { page, complaints } = await openWebUi(browser, server.url, 'agent')
    await openCard(page, 'Advanced')
    await agentText(page).fill('{}')
    await openCard(page, 'Sandbox')
    const kind = page.getByLabel('Where code is run')
    const verify = page.getByRole('button', { name: 'Verify' })
    const probes = page.getByRole('list', { name: 'Probes' }).getByRole('listitem')
    await kind.selectOption('embedded')
    const answer = page.waitForResponse('**/sandbox/verify', { timeout: 60_000 })
    await verify.click()
    const report = SandboxReport.parse(await (await answer).json())
    expect(report).toMatchObject({ kind: 'embedded', probes: { length: PROBES.length } })
    await probes.first().waitFor()
    // On a slow machine one or the other may fail: the page tells what the server found.
    const found = report.probes.map(({ name, ok }) => `${name}\n${ok ? 'Holds' : 'Fails'}`)
    expect(found[0]).toBe('computation\nHolds')
    const shown = await probes.allInnerTexts()
    expect(shown.map((text) => text.split('\n').slice(0, 2).join('\n'))).toEqual(found)

    await kind.selectOption('e2b')
    await verify.click()
    await page.getByText('The sandbox provider cannot be reached').waitFor()
    expect(await probes.count()).toBe(0)
    await kind.selectOption('none')
    expect(await verify.isDisabled()).toBe(true)
    expect(complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([])
  })

  it('accept the tools of a connection that have changed, once they have been looked at', async () => {
    let description = 'Says hello'
    const modern = await startModernServer(() => {
      const offered = new McpServer({ name: 'ours', version: '1.0.0' }, {})
      offered.registerTool('hello', { description }, () => ({ content: [] }))
      return offered
    })
    const { server: own } = await startWith({ ours: { url: modern.url } })
    await settled(own, 'ours', 'on')
    description = 'Says hello, and good night'
    modern.toolsChanged()
    await poll(() => connections(own), [{ waiting: ['mcp__ours__hello'] }])

    const { page, complaints } = await openWebUi(browser, own.url, 'agent')
    await openCard(page, 'MCP')
    const accept = page.getByRole('button', { name: 'Accept 1 tool of ours' })
    await accept.waitFor()
    await page.getByText('1 on, 1 tool to accept').waitFor()
    expect(await accept.isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Test ours' }).click()
    const tools = page.getByRole('list', { name: 'Tools of the server' })
    await tools.getByText(description).waitFor()
    await tools.getByText('has changed since it was accepted').waitFor()
    await accept.click()
    await poll(() => connections(own), [{ tools: 1, waiting: [] }])
    await accept.waitFor({ state: 'detached' })
    await page.getByText('1 on', { exact: true }).waitFor()
    expect(complaints).toEqual([])
  })

  it('ask a model with the typed values, and show its refusal', async () => {
    const { page } = await openWebUi(browser, server.url, 'models')
    await page.getByLabel('CHAT_MODEL').fill('scripted')
    await page.getByLabel('CHAT_BASE_URL').fill('http://127.0.0.1:1/v1')
    await page.getByLabel(/\bCHAT_API_KEY$/).fill('sk-wrong')
    await page.getByRole('button', { name: 'List models for Chat' }).click()
    const unlisted = page.getByText('The chat model cannot be reached')
    await unlisted.waitFor()
    await page.getByLabel('CHAT_BASE_URL').fill(modelUrl)
    await page.getByRole('button', { name: 'Test Chat' }).click()
    await page.getByText(/scripted fails/).waitFor()
    // What was wrong with the former request would be taken for what is wrong with this one.
    expect(await unlisted.count()).toBe(0)
    await page
      .getByRole('group', { name: 'Chat server' })
      .getByRole('button', { name: /^Ollama/ })
      .click()
    expect(await page.getByLabel('CHAT_BASE_URL').inputValue()).toBe('http://localhost:11434/v1')
    await page.getByLabel('CHAT_MODEL').fill('extractive')
    await page.getByRole('button', { name: 'Test Chat' }).click()
    await page.getByText(/extractive works: .*does not support tools/).waitFor()
    await expectAccessible(page)
  })

  it('show what a deployment is made of, or what stands against it', async () => {
    const own = await startServer({ AGENT_CONFIG: fileURLToPath(new URL('agent.json', ROOT)) })
    const { page, complaints } = await openWebUi(browser, own.url, 'deploy')
    await page.getByLabel('Target').selectOption('cloud-run')
    await page.getByRole('button', { name: 'Show files' }).click()
    await page.getByText('Fix these problems before deploying').waitFor()
    await expectAccessible(page)
    expect(complaints).toEqual([])
  })

  it('find documents by their title, whatever it holds', async () => {
    await server.ingest({ title: HOSTILE, text: 'Owls.' })
    await server.ingest({ title: 'Opening hours', text: 'Ten.' })
    const { page, complaints } = await openWebUi(browser, server.url, 'documents')
    await page.getByRole('link', { name: 'Opening hours' }).waitFor()
    await page.getByLabel('Title contains').fill('ONERROR')
    await page.getByRole('link', { name: 'Opening hours' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: HOSTILE }).waitFor()
    expect(complaints).toEqual([])
  })

  it.each(['light', 'dark'] as const)(
    'are accessible and fit 360 pixels in %s',
    async (colorScheme) => {
      const viewport = { width: 360, height: 740 }
      const { page } = await openWebUi(browser, server.url, 'overview', { colorScheme, viewport })
      await server.ingest({ title: LONG_NAME, text: 'A name without a place to break it.' })
      for (const name of [
        'Overview',
        'Documents',
        'Search',
        'Chat',
        'Agent',
        'Models',
        'Deploy',
        'Settings',
      ]) {
        // The navigation of a telephone has only the first four.
        await page.evaluate(`location.hash = '#/${name.toLowerCase()}'`)
        await page.getByRole('heading', { level: 1, name }).waitFor()
        await FILLED[name]?.(page)
        await expectAccessible(page)
        await page.evaluate(
          'for (const part of document.querySelectorAll("main details")) part.open = true',
        )
        const overflow =
          'document.documentElement.scrollWidth - document.documentElement.clientWidth'
        expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0)
      }
    },
  )
})
