import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  expectAccessible,
  goTo,
  hasBrowser,
  openWebUi,
  press,
  useBrowser,
} from '../support/browser.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { freePort, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'
import { textReply } from '../support/upstream-replies.ts'

const browser = useBrowser()

describe.skipIf(!hasBrowser)('First steps (needs Chromium)', () => {
  it('lead from an empty server over a found model to a cited answer, and then go', async () => {
    const upstream = await startScriptedUpstream()
    upstream.always(textReply('You pay its price and a handling fee of 5 euros. [1]'))
    const directory = await temporaryDirectory()
    await writeFile(join(directory, '.env'), 'CHAT_MODEL=extractive\n')
    const environment = { PORT: await freePort(), CHAT_MODEL: undefined }
    const server = await startServerProcess(environment, { directory })
    const { page } = await openWebUi(browser, server.url)
    // In place of a server at Ollama's own port, which a test cannot have for itself.
    const found = {
      name: 'Ollama',
      baseUrl: upstream.url,
      models: ['nomic-embed-text', 'qwen3:4b'],
    }
    await page.route('**/admin/models/local', (route) =>
      route.fulfill({ json: { servers: [found] } }),
    )
    await page.reload()
    const steps = page.getByRole('region', { name: 'First steps' })
    const models = steps.getByLabel('Ollama is running. Model')
    await models.waitFor()
    expect(await models.locator('option').allInnerTexts()).toEqual(['qwen3:4b'])
    await expectAccessible(page)

    await steps.getByRole('button', { name: 'Use a sample' }).click()
    await steps.getByRole('listitem').filter({ hasText: 'Add a document Done' }).waitFor()
    await steps.getByRole('button', { name: 'Use this model and restart' }).click()
    await steps.getByText('qwen3:4b writes the answers.').waitFor()
    const question = 'What do I pay for a lost item?'
    await steps.getByRole('button', { name: question }).click()
    await expect
      .poll(() => page.getByLabel('Question', { exact: true }).inputValue())
      .toBe(question)
    await press(page, 'Send')
    await page.getByRole('button', { name: 'Source 1' }).waitFor()

    await goTo(page, 'Overview')
    await page.getByRole('heading', { name: 'What works' }).waitFor()
    expect(await steps.count()).toBe(0)
  })

  it('say plainly that there is no model server, and what answers do without', async () => {
    const server = await startServerProcess({ PORT: await freePort() })
    const { page } = await openWebUi(browser, server.url)
    await page.route('**/admin/models/local', (route) => route.fulfill({ json: { servers: [] } }))
    await page.reload()
    const steps = page.getByRole('region', { name: 'First steps' })
    await steps.getByText('No Ollama or LM Studio is running on the server’s machine.').waitFor()
    await steps.getByText('answers are sentences quoted from your documents').waitFor()
    await steps.getByRole('link', { name: 'Connect another model' }).click()
    await page.getByRole('heading', { name: 'Models', level: 1 }).waitFor()
  })
})
