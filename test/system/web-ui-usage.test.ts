import { expect, it } from 'vitest'
import { expectAccessible, hasBrowser, openWebUi, press, useBrowser } from '../support/browser.ts'
import { speakingFor } from '../support/people.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { writeAgentFile } from '../support/temporary-files.ts'
import { textReply } from '../support/upstream-replies.ts'

const browser = useBrowser()

it.skipIf(!hasBrowser)(
  'Usage shows who used what, by what is chosen, filtered, and as CSV (needs Chromium)',
  async () => {
    const upstream = await startScriptedUpstream()
    upstream.always(textReply('Owls.', { usage: { prompt_tokens: 1_000, completion_tokens: 10 } }))
    const prices = { models: { priced: { input: 2, output: 10 } } }
    const AGENT_CONFIG = await writeAgentFile({ prices })
    const server = await startServer(modelAt(upstream, { AGENT_CONFIG, CHAT_MODEL: 'priced' }))
    const body = { messages: [{ role: 'user', content: 'Who hoots?' }], stream: false }
    for (const name of ['ada', 'ada', 'bob']) {
      await speakingFor(server, { name })('/v1/chat/completions', { body })
    }
    const { page, complaints } = await openWebUi(browser, server.url, 'usage')
    const rows = page.locator('tbody tr')
    await expect.poll(() => rows.allInnerTexts()).toHaveLength(2)
    expect(await rows.last().innerText()).toMatch(/Total\s+3\s+3,000\s+0\s+30\s+\$0\.0063/)
    const filters = page.locator('.filters-row > *')
    const tops = await filters.evaluateAll((all) =>
      all.map((one) => one.getBoundingClientRect().top),
    )
    expect(new Set(tops).size, 'rows of filters').toBe(1)
    await filters.locator('select').first().selectOption('person')
    await expect.poll(() => rows.first().innerText()).toMatch(/^ada\s+2\s+2,000/)
    await page.getByPlaceholder('user:ada').fill('user:bob')
    await page.getByPlaceholder('user:ada').press('Enter')
    await expect.poll(() => rows.first().innerText()).toMatch(/^bob\s+1\s+1,000/)
    await expectAccessible(page, 'usage')
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'CSV' }).click()
    const text = Buffer.concat(await Array.fromAsync(await (await download).createReadStream()))
    expect(text.toString()).toContain('user:bob,,1,1000,0,10,0.0021,')
    expect(complaints).toEqual([])
  },
)

it.skipIf(!hasBrowser)(
  'What people and groups may use in a day is set beside what they have used, in both themes and at 360 pixels (needs Chromium)',
  async () => {
    const upstream = await startScriptedUpstream()
    upstream.always(textReply('Owls.', { usage: { prompt_tokens: 1_000, completion_tokens: 10 } }))
    const prices = { models: { priced: { input: 2, output: 10 } } }
    const AGENT_CONFIG = await writeAgentFile({ prices, prompt: 'Be brief.' })
    const server = await startServer(modelAt(upstream, { AGENT_CONFIG, CHAT_MODEL: 'priced' }))
    const ada = speakingFor(server, { name: 'ada', groups: ['sales'] })
    const body = { messages: [{ role: 'user', content: 'Who hoots?' }], stream: false }
    expect((await ada('/v1/chat/completions', { body })).status).toBe(200)
    const { page, complaints } = await openWebUi(browser, server.url, 'usage')
    const people = page.getByRole('list', { name: 'Limits of people' })
    const groups = page.getByRole('list', { name: 'Limits of everybody and of groups' })
    await people.getByText('1,010 tokens and $0.0021 today').waitFor()
    await groups.getByText('no limit').waitFor()

    await press(page, 'Change the limit of Everybody')
    await page.getByLabel('Tokens a day').fill('5000')
    await press(page, 'Save')
    await people.getByText('1,010 of 5,000 tokens and $0.0021 today').waitFor()

    await press(page, 'Limit a group')
    await page.getByLabel('Group, as the issuer names it').fill('sales')
    await page.getByLabel('Money a day').fill('9000000000')
    await page.getByLabel('All members share it').check()
    await press(page, 'Save')
    const money = page.getByLabel('Money a day')
    await expect.poll(() => money.getAttribute('aria-invalid')).toBe('true')
    expect(await page.locator('dialog .reason').allInnerTexts()).toEqual([
      '',
      expect.stringContaining('1000000000'),
    ])
    await expectAccessible(page, 'limit-refused')
    await money.fill('2.5')
    await press(page, 'Save')
    await groups.getByText('1,010 tokens and $0.0021 of $2.50 today').waitFor()

    await press(page, 'Change the limit of ada')
    await page.getByLabel('Tokens a day').fill('1000')
    await press(page, 'Save')
    await people.getByText('1,010 of 1,000 tokens').waitFor()
    await people.getByText('own limit: 1,000 tokens').waitFor()
    expect((await ada('/v1/chat/completions', { body })).status).toBe(429)
    await expectAccessible(page, 'limits')

    await page.setViewportSize({ width: 360, height: 780 })
    await page.emulateMedia({ colorScheme: 'dark' })
    await expectAccessible(page, 'limits-dark-narrow')
    const overflow = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    )
    expect(Number(overflow)).toBeLessThanOrEqual(0)
    const { text } = (await (await server.request('/admin/agent')).json()) as { text: string }
    expect(JSON.parse(text)).toEqual({
      prices,
      prompt: 'Be brief.',
      budgets: {
        people: { tokensPerDay: 5_000 },
        groups: { sales: { costPerDay: 2.5, shared: true } },
      },
    })
    expect(complaints.filter((line) => !line.startsWith('Failed to load resource'))).toEqual([])
  },
)
