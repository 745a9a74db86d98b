import type { BrowserContextOptions } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import {
  askOn,
  expectAccessible,
  hasBrowser,
  openWebUi,
  press,
  useBrowser,
} from '../support/browser.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { textReply } from '../support/upstream-replies.ts'

const browser = useBrowser()

const HOSTILE = '<img src=x onerror="alert(1)"> [click](javascript:alert(2)) \uE000 mark \uE001'
const SENTENCE = 'On Saturdays it opens at ten and closes at two.'
const FEES =
  'Fees of the library.\n\n| Item | Fee |\n| --- | --- |\n| Lost card | 4 euros |\n| Lost book | its price |'
/** Long enough that the cited sentence is far from the beginning. */
const HANDBOOK = [
  '# Handbook',
  HOSTILE,
  ...Array.from(
    { length: 60 },
    (_, n) => `## Rule ${n}\n\nShelf ${n} holds the maps of region ${n}.`,
  ),
  `## Opening hours\n\nThe library opens at nine on **weekdays**. ${SENTENCE} It is closed on Sundays.`,
  FEES,
  ...Array.from({ length: 60 }, (_, n) => `## Annex ${n}\n\nForm ${n} is kept in drawer ${n}.`),
].join('\n\n')

async function openAnswer(
  answer: string,
  { text = HANDBOOK, ...options }: BrowserContextOptions & { text?: string } = {},
) {
  const upstream = await startScriptedUpstream()
  const server = await startServer(modelAt(upstream))
  const id = await server.ingest({ title: 'Handbook', text })
  upstream.always(textReply(answer))
  const opened = await openWebUi(browser, server.url, 'chat', options)
  await askOn(opened.page, 'When does the library open on Saturdays?')
  return { ...opened, server, id, upstream }
}

describe.skipIf(!hasBrowser)('The reader (needs Chromium)', () => {
  it('opens a citation beside the chat, at its sentence, and marks only that', async () => {
    const { page, complaints } = await openAnswer(
      'The desk is open. On Saturdays the library opens at ten [1].',
    )
    const source = page.getByRole('button', { name: 'Source 1' })
    await source.click()
    const reader = page.getByRole('complementary', { name: 'Handbook' })
    const marks = reader.locator('mark')
    await marks.first().waitFor()
    expect(await marks.allInnerTexts()).toEqual([SENTENCE])
    expect(await reader.getByRole('heading', { name: 'Opening hours' }).count()).toBe(1)
    const box = await marks.first().boundingBox()
    const body = await reader.locator('.reader-body').boundingBox()
    expect(box && body && box.y > body.y && box.y < body.y + body.height).toBe(true)
    await expectAccessible(page)
    expect(await page.locator('.reader img, .reader a[href^="javascript"]').count()).toBe(0)
    await page.keyboard.press('Escape')
    await reader.waitFor({ state: 'detached' })
    const isFocused = "document.activeElement.getAttribute('aria-label') === 'Source 1'"
    expect(await page.evaluate<boolean>(isFocused)).toBe(true)
    expect(complaints).toEqual([])
  })

  it('marks the row of a table', async () => {
    const { page } = await openAnswer('A lost card costs 4 euros [1].', { text: FEES })
    await page.getByRole('button', { name: 'Source 1' }).click()
    const marks = page.locator('.reader mark')
    await marks.first().waitFor()
    expect(await page.locator('.reader td mark').allInnerTexts()).toEqual(['Lost card', '4 euros'])
    expect(await marks.count()).toBe(2)
  })

  it('shows title and sentence of a citation that has the focus, and what an unknown one means', async () => {
    const { page } = await openAnswer('On Saturdays the library opens at ten [1]. It is red [99].')
    await page.getByRole('button', { name: 'Source 1' }).focus()
    const card = page.getByRole('tooltip')
    expect(await card.innerText()).toMatch(/^Handbook[\s\S]*On Saturdays it opens at ten/)
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await card.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Unknown source' }).hover()
    expect(await card.innerText()).toMatch(/not among the passages/)
  })

  it('shows where the passage does not carry the statement', async () => {
    const { page } = await openAnswer(
      'On Saturdays it opens at ten [1]. It has 4000 chairs on Saturdays, when it opens at ten [1].',
    )
    const marks = page.getByRole('button', { name: 'Source 1' })
    const unsupported = page.locator('button.citation.unsupported')
    await expect.poll(() => unsupported.count()).toBe(1)
    const card = page.getByRole('tooltip')
    await marks.first().focus()
    expect(await card.innerText()).not.toMatch(/does not seem to say/)
    await marks.last().focus()
    await expect.poll(() => card.innerText()).toMatch(/does not seem to say/)
    await expectAccessible(page)
  })

  it('leads to the same place of the document, at an address of its own', async () => {
    const { page } = await openAnswer('On Saturdays the library opens at ten [1].')
    await page.getByRole('button', { name: 'Source 1' }).click()
    await page.getByRole('link', { name: 'Open document' }).click()
    await page.getByRole('heading', { name: 'Handbook', level: 1 }).waitFor()
    expect(page.url()).toMatch(/#\/documents\/[^?]+\?at=\d+-\d+$/)
    const mark = page.locator('mark').first()
    await mark.waitFor()
    const isSeen = async () => {
      const y = (await mark.boundingBox())?.y ?? -1
      return y > 0 && y < (page.viewportSize()?.height ?? 0)
    }
    await expect.poll(isSeen).toBe(true)
  })

  it('shows the passage as it was cited when the document is gone', async () => {
    const { page, server, id } = await openAnswer('On Saturdays the library opens at ten [1].')
    await page.getByRole('button', { name: 'Source 1' }).waitFor()
    await server.request(`/documents/${id}`, { method: 'DELETE' })
    await page.getByRole('button', { name: 'Source 1' }).click()
    await page.getByText('The document is no longer there.').waitFor()
    expect(await page.locator('.reader mark').allInnerTexts()).not.toEqual([])
  })

  it('fills a telephone, and gives the chat back', async () => {
    const viewport = { width: 390, height: 740 }
    const { page } = await openAnswer('On Saturdays the library opens at ten [1].', { viewport })
    await page.getByRole('button', { name: 'Source 1' }).click()
    const reader = page.getByRole('complementary', { name: 'Handbook' })
    await reader.locator('mark').first().waitFor()
    expect((await reader.boundingBox())?.width).toBeGreaterThan(370)
    await press(page, 'Close')
    await reader.waitFor({ state: 'detached' })
  })

  it('copies an answer with the sources that it cites, each once', async () => {
    const { page, context } = await openAnswer('At ten [1]. On Saturdays, at ten [1].')
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await press(page, 'Copy answer')
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()')
    await expect.poll(copied).toMatch(/\n\nSources:\n\n\[1\] Handbook[^\n]*$/)
  })
})
