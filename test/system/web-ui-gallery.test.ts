import type { BrowserContextOptions, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  askOn,
  expectAccessible,
  hasBrowser,
  openCard,
  openPage,
  openWebUi,
  press,
  useBrowser,
} from '../support/browser.ts'
import { sendFile } from '../support/forms.ts'
import { pdfFile } from '../support/pdf-file.ts'
import { startRestaurant } from '../support/restaurant.ts'
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'
import { writeAgentFile } from '../support/temporary-files.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

const FEES = 'Fees of the library.\nA lost card costs 4 euros.\nA lost book costs its price.'
const ANSWER = `A lost card costs **4 euros** [1], a lost book its price [1].

| Item | Fee |
| --- | ---: |
| Card | 4 |
| Book | $p + 5$ |

\`\`\`python
fee = 4 if lost else 0
\`\`\`

- [x] Report it within seven days
- [ ] Pay at the desk`

const browser = useBrowser()
const restaurant = await startRestaurant()
const AGENT_CONFIG = await writeAgentFile({
  mcpServers: { table: { url: restaurant.url } },
  tools: { tabular_data: { approval: 'always' } },
})
let upstream: ScriptedUpstream
let server: TestServer
beforeAll(async () => {
  if (!hasBrowser) return
  upstream = await startScriptedUpstream()
  const given = modelAt(upstream, { AGENT_CONFIG, OUTBOUND_ALLOW: '127.0.0.1' })
  server = await startServer(given)
  await sendFile(server, { name: 'fees.pdf', bytes: pdfFile({ pages: [FEES, 'Annex.'] }) })
  await sendFile(server, { name: 'sound.wav', bytes: 'RIFF' })
  const metadata = { year: 2026, collection: 'handbooks' }
  await server.ingest({ title: 'Handbook', text: `# Opening hours\n\n${FEES}`, metadata })
  return async () => {
    await server.close()
    await upstream.close()
  }
})

const confirmTitle = (page: Page) => page.getByRole('dialog').getByRole('heading')
const closeDialog = async (page: Page) => {
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

/** Narrow screens have no room for columns. */
async function switchColumns(page: Page) {
  const columns = page.getByText('Columns').first()
  if (await columns.isVisible()) await columns.click()
}

async function ask(page: Page, ...replies: Parameters<ScriptedUpstream['script']>) {
  upstream.script(...replies)
  await askOn(page, 'What does a lost card cost?')
}

/** What is shown beside the pages themselves, by page: what leads there, step by step. */
const STATES: Record<string, readonly [name: string, lead: (page: Page) => Promise<unknown>][]> = {
  overview: [['parts', (page) => page.getByRole('region', { name: 'What works' }).waitFor()]],
  documents: [
    ['list', (page) => page.getByRole('link', { name: 'Handbook', exact: true }).waitFor()],
    ['columns', switchColumns],
    [
      'selected',
      async (page) => {
        await switchColumns(page)
        await page.getByLabel('Select the documents shown').check()
      },
    ],
    [
      'move',
      async (page) => {
        await press(page, 'Move to collection')
        await confirmTitle(page).waitFor()
      },
    ],
    [
      'delete',
      async (page) => {
        await closeDialog(page)
        await page
          .getByRole('region', { name: 'Selected documents' })
          .getByRole('button', { name: 'Delete' })
          .click()
        await confirmTitle(page).waitFor()
      },
    ],
    [
      'paste',
      async (page) => {
        await closeDialog(page)
        await press(page, 'Clear selection')
        await press(page, 'Paste text')
      },
    ],
    [
      'web',
      async (page) => {
        await closeDialog(page)
        await press(page, 'Add from the web')
      },
    ],
    [
      'edit',
      async (page) => {
        await closeDialog(page)
        await press(page, 'Edit Handbook')
      },
    ],
    [
      'one',
      async (page) => {
        await closeDialog(page)
        await page.getByRole('link', { name: 'Handbook', exact: true }).click()
        await page.getByRole('heading', { name: 'Passages' }).waitFor()
      },
    ],
    ['access', (page) => press(page, 'Access')],
  ],
  collections: [
    ['list', (page) => page.getByRole('link', { name: 'handbooks' }).waitFor()],
    [
      'rename',
      async (page) => {
        await page.getByRole('button', { name: 'Rename handbooks' }).click()
        await confirmTitle(page).waitFor()
      },
    ],
    [
      'access',
      async (page) => {
        // Escape empties the field first.
        await press(page, 'Cancel')
        await page.getByRole('button', { name: 'Access to handbooks' }).click()
      },
    ],
  ],
  search: [
    [
      'results',
      async (page) => {
        await page.getByLabel('Question', { exact: true }).fill('lost card')
        await page.keyboard.press('Enter')
        await page.getByText(/found in/).waitFor()
      },
    ],
    [
      'compared',
      async (page) => {
        await page
          .getByRole('button', { name: /^Right document/ })
          .first()
          .click()
        await page.getByLabel('Compare two settings').check()
        await page
          .getByText(/found in/)
          .nth(1)
          .waitFor()
      },
    ],
    [
      'context',
      async (page) => {
        await page
          .getByRole('button', { name: /In context/ })
          .first()
          .click()
        await page.getByRole('dialog').locator('mark').first().waitFor()
      },
    ],
  ],
  chat: [
    ['empty', (page) => page.getByText('Ask about your documents').waitFor()],
    [
      'answer',
      async (page) => {
        const search = { name: 'semantic_search', arguments: { query: 'lost card' } }
        await ask(page, toolCallReply(search), textReply(ANSWER))
        await page.getByText('1 step').waitFor()
        await page.getByText('1 step').click()
        await page.getByText(/^\d+ sources? cited$/).click()
      },
    ],
    [
      'comment',
      async (page) => {
        await page.getByRole('button', { name: /^Good answer/ }).click()
        await press(page, 'Add a comment')
      },
    ],
    [
      'reader',
      async (page) => {
        await press(page, 'Cancel')
        await page.getByRole('button', { name: 'Source 1' }).first().click()
        await page.locator('.reader').getByText('lost card').first().waitFor()
      },
    ],
    [
      'conversation',
      async (page) => {
        await page.keyboard.press('Escape')
        const narrow = page.getByRole('button', { name: 'Conversations', exact: true })
        if (await narrow.isVisible()) await narrow.click()
        await page
          .getByRole('button', { name: /^Rename, share/ })
          .first()
          .click()
      },
    ],
    ['share', (page) => page.locator('dialog form').getByText('Share').click()],
    [
      'run',
      async (page) => {
        await page.keyboard.press('Escape')
        await page.keyboard.press('Escape')
        await page.getByRole('link', { name: 'Show run' }).click()
        await page.getByRole('heading', { name: '2 model calls' }).waitFor()
      },
    ],
    [
      'approval',
      async (page) => {
        await page.goBack()
        await press(page, 'New conversation')
        await ask(page, toolCallReply({ name: 'list_tables', arguments: { search: 'fees' } }))
        await page.getByRole('form', { name: 'Waiting for approval' }).waitFor()
      },
    ],
    [
      'elicitation',
      async (page) => {
        await press(page, 'New conversation')
        await ask(page, toolCallReply({ name: 'mcp__table__book', arguments: {} }))
        await page.getByRole('form', { name: 'Questions' }).waitFor()
      },
    ],
  ],
  agent: [
    ['cards', (page) => page.getByText('1 on').first().waitFor()],
    [
      'open',
      async (page) => {
        for (const card of ['Tools', 'Skills', 'MCP', 'Sandbox', 'Advanced'])
          await openCard(page, card)
        await page.getByRole('button', { name: 'Test table' }).click()
        await page.getByRole('list', { name: 'Tools of the server' }).waitFor()
      },
    ],
    [
      'save',
      async (page) => {
        await page.getByLabel(/^Instructions for the agent/).fill('Be brief.')
        await page.getByRole('button', { name: 'Save', exact: true, disabled: false }).click()
        await confirmTitle(page).waitFor()
      },
    ],
    [
      'discard',
      async (page) => {
        await closeDialog(page)
        await press(page, 'Discard')
        await confirmTitle(page).waitFor()
      },
    ],
  ],
  models: [
    ['fields', (page) => page.getByLabel('CHAT_MODEL').waitFor()],
    [
      'change',
      async (page) => {
        await page.getByText('Change the embedding model of existing').click()
        await page.getByLabel('New server').waitFor()
      },
    ],
  ],
  keys: [
    [
      'made',
      async (page) => {
        await page.getByLabel('Name', { exact: true }).fill('Website')
        await press(page, 'Create key')
        await page.getByText('shown only once').waitFor()
      },
    ],
    [
      'revoke',
      async (page) => {
        await page.getByRole('button', { name: 'Revoke Website' }).first().click()
        await confirmTitle(page).waitFor()
      },
    ],
  ],
  feedback: [
    ['list', (page) => page.getByRole('heading', { name: 'Feedback', level: 1 }).waitFor()],
  ],
  evaluation: [['empty', (page) => page.getByText('Nothing measured yet').waitFor()]],
  activity: [
    ['graphs', (page) => page.locator('.graph-now').first().waitFor()],
    ['audit', (page) => page.getByRole('radio', { name: 'Audit log' }).check()],
  ],
  deploy: [
    ['empty', (page) => page.getByText('Choose a target').waitFor()],
    [
      'problems',
      async (page) => {
        await page.getByLabel('Target').selectOption('compose')
        await press(page, 'Show files')
        await page.getByRole('heading', { name: 'Fix these problems' }).waitFor()
      },
    ],
  ],
  settings: [['fields', (page) => page.getByRole('navigation', { name: 'Sections' }).waitFor()]],
  nowhere: [
    ['page', (page) => page.getByRole('heading', { name: 'Not found' }).waitFor()],
    [
      'palette',
      async (page) => {
        await page.keyboard.press('Control+k')
        await page.getByLabel('Page, conversation or document').fill('a')
        await page.getByRole('option').first().waitFor()
      },
    ],
  ],
}

const WIDTH = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'

type Look = [name: string, take: (page: Page) => Promise<unknown>]

/** Each shows everything once, in two looks. */
const WALKS: [name: string, options: BrowserContextOptions, looks: [Look, Look]][] = [
  [
    'in light and dark',
    {},
    [
      ['light', (page) => page.emulateMedia({ colorScheme: 'light' })],
      ['dark', (page) => page.emulateMedia({ colorScheme: 'dark' })],
    ],
  ],
  [
    '390 pixels wide and at 200 %',
    { viewport: { width: 390, height: 844 } },
    [
      ['390 pixels wide', (page) => page.setViewportSize({ width: 390, height: 844 })],
      // Zoom makes fewer CSS pixels of a screen.
      ['at 200 %', (page) => page.setViewportSize({ width: 640, height: 400 })],
    ],
  ],
]

/** Ends in the first of the looks. */
async function lookAt(page: Page, looks: readonly Look[], name: string): Promise<void> {
  for (const [look, take] of looks) {
    await take(page)
    await expectAccessible(page, `${look} ${name}`)
    expect(await page.evaluate(WIDTH), `${look}, ${name}`).toBeLessThanOrEqual(0)
  }
  await looks[0]?.[1](page)
}

describe.skipIf(!hasBrowser).each(WALKS)(
  'Everything that is shown, %s (needs Chromium)',
  (_walk, options, looks) => {
    it.each(Object.keys(STATES))('is accessible and fits on the page %s', async (path) => {
      const { page } = await openWebUi(browser, server.url, path, options)
      for (const [name, lead] of STATES[path] ?? []) {
        await lead(page)
        await lookAt(page, looks, `${path} ${name}`)
      }
    })

    it('is accessible and fits before the first document, and before somebody is signed in', async () => {
      const fresh = await startServer()
      const { page } = await openPage(browser, fresh.url, options)
      await page.goto(fresh.url)
      await page.getByLabel('Server key').waitFor()
      await lookAt(page, looks, 'sign-in')
      const opened = await openWebUi(browser, fresh.url, 'overview', options)
      await opened.page.getByRole('heading', { name: 'First steps' }).waitFor()
      await opened.page.getByRole('region', { name: 'What works' }).waitFor()
      await lookAt(opened.page, looks, 'first steps')
    })
  },
)
