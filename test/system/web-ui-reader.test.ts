import { describe, expect, it } from 'vitest'
import { expectAccessible, hasBrowser, press, useBrowser } from '../support/browser.ts'
import { FEES, isInView, openAnswer, SENTENCE } from '../support/cited-answer.ts'
import { fixture } from '../support/forms.ts'

const browser = useBrowser()

describe.skipIf(!hasBrowser)('The reader (needs Chromium)', () => {
  it('opens a citation beside the chat, at its sentence, and marks only that', async () => {
    const { page, complaints } = await openAnswer(
      browser,
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

  it('is as wide as its edge is dragged or moved by keys, and closes at its corner', async () => {
    const { page } = await openAnswer(browser, 'On Saturdays the library opens at ten [1].')
    await page.getByRole('button', { name: 'Source 1' }).click()
    const reader = page.getByRole('complementary', { name: 'Handbook' })
    await reader.locator('mark').first().waitFor()
    const widthOf = async () => (await reader.boundingBox())?.width ?? 0
    const before = await widthOf()
    const edge = reader.getByRole('separator', { name: 'Width of the document' })
    const box = await edge.boundingBox()
    if (!box) throw new Error('There is no edge')
    await page.mouse.move(box.x + box.width / 2, box.y + 300)
    await page.mouse.down()
    await page.mouse.move(box.x - 150, box.y + 300, { steps: 3 })
    await page.mouse.up()
    await expect.poll(widthOf).toBeGreaterThan(before + 100)
    const dragged = await widthOf()
    await page.mouse.move(box.x + 150, box.y + 300)
    expect(await widthOf()).toBe(dragged)
    await edge.focus()
    for (let n = 0; n < 20; n += 1) await page.keyboard.press('ArrowRight')
    await expect.poll(() => edge.getAttribute('aria-valuenow')).toBe('25')
    await expect.poll(widthOf).toBeLessThan(before)
    const close = await reader.getByRole('button', { name: 'Close' }).boundingBox()
    const corner = await reader.boundingBox()
    if (!close || !corner) throw new Error('There is no corner')
    expect(close.y - corner.y).toBeLessThan(24)
    expect(corner.x + corner.width - close.x - close.width).toBeLessThan(24)
    await expectAccessible(page, 'reader-narrow')
    await press(page, 'Close')
    await reader.waitFor({ state: 'detached' })
  })

  it('keeps the citation where it is in the window, and looks active, while it is open', async () => {
    const lines = Array.from(
      { length: 40 },
      (_, line) =>
        `Line ${line} of the answer, which is long enough to wrap once the reader takes its half of the window.`,
    )
    const answer = `${lines.join('\n\n')}\n\nOn Saturdays the library opens at ten [1].\n\n${lines.join('\n\n')}`
    const { page } = await openAnswer(browser, answer)
    const source = page.getByRole('button', { name: 'Source 1' })
    await source.scrollIntoViewIfNeeded()
    const top = async () => Math.round((await source.boundingBox())?.y ?? Number.NaN)
    const before = await top()
    await source.click()
    await page.locator('.reader mark').first().waitFor()
    expect(Math.abs((await top()) - before)).toBeLessThan(3)
    expect(await source.getAttribute('aria-current')).toBe('true')
    await page.keyboard.press('Escape')
    await page.locator('.reader').waitFor({ state: 'detached' })
    expect(Math.abs((await top()) - before)).toBeLessThan(3)
    expect(await source.getAttribute('aria-current')).toBeNull()
  })

  it('is closed by Back on a telephone, which stays in the chat', async () => {
    const { page } = await openAnswer(browser, 'On Saturdays the library opens at ten [1].')
    await page.setViewportSize({ width: 390, height: 844 })
    await page.getByRole('button', { name: 'Source 1' }).click()
    await page.locator('.reader mark').first().waitFor()
    await page.goBack()
    await page.locator('.reader').waitFor({ state: 'detached' })
    expect(page.url()).toContain('#/chat/')
    await page.getByRole('button', { name: 'Source 1' }).waitFor()
  })

  it('reads out a cited sentence without its Markdown', async () => {
    const text = 'The library opens at nine on **weekdays** and at ten on _Saturdays_.'
    const { page } = await openAnswer(browser, 'On weekdays the library opens at nine [1].', {
      text,
    })
    await page.getByRole('button', { name: 'Source 1' }).hover()
    const told = 'The library opens at nine on weekdays and at ten on Saturdays.'
    await page.getByRole('tooltip').getByText(told).waitFor()
  })

  it('marks the row of a table', async () => {
    const { page } = await openAnswer(browser, 'A lost card costs 4 euros [1].', { text: FEES })
    await page.getByRole('button', { name: 'Source 1' }).click()
    const marks = page.locator('.reader mark')
    await marks.first().waitFor()
    expect(await page.locator('.reader td mark').allInnerTexts()).toEqual(['Lost card', '4 euros'])
    expect(await marks.count()).toBe(2)
  })

  it('shows the rows of a CSV file as a table', async () => {
    const { page } = await openAnswer(browser, 'There are 1550 pairs of Arctic terns [1].', {
      file: { name: 'terns.csv', bytes: fixture('terns.csv'), type: 'text/csv' },
      question: 'How many pairs of Arctic terns are there?',
    })
    await page.getByRole('button', { name: 'Source 1' }).click()
    const rows = page.locator('.reader tbody tr')
    await rows.first().waitFor()
    expect(await rows.count()).toBe(2)
    expect(await rows.locator('mark').allInnerTexts()).toEqual([
      'Arctic tern',
      'Farne; Inner',
      '1550',
    ])
  })

  it('draws formulas, within a marked sentence, too', async () => {
    const text =
      'The fee of a late book is $\\frac{d}{2}$ euros after $d$ days. Cards are free in $2030$.'
    const answer = 'A late book has a fee in euros, after some days [1].'
    const { page } = await openAnswer(browser, answer, {
      text,
      question: 'What is the fee of a late book?',
    })
    await page.getByRole('button', { name: 'Source 1' }).click()
    await page.locator('.reader mark mfrac').waitFor()
    expect(await page.locator('.reader math').count()).toBe(3)
    expect(await page.locator('.reader mark math').count()).toBe(2)
  })

  it('shows title and sentence of a citation that has the focus, and what an unknown one means', async () => {
    const { page } = await openAnswer(
      browser,
      'On Saturdays the library opens at ten [1]. It is red [99].',
    )
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
      browser,
      'On Saturdays it opens at ten [1]. It has 4000 chairs on Saturdays, when it opens at ten [1].',
    )
    const marks = page.getByRole('button', { name: 'Source 1' })
    const unsupported = page.locator('button.citation.unsupported')
    await expect.poll(() => unsupported.count()).toBe(1)
    const card = page.getByRole('tooltip')
    await marks.first().focus()
    expect(await card.innerText()).not.toMatch(/may not support this statement/)
    await marks.last().focus()
    await expect.poll(() => card.innerText()).toMatch(/may not support this statement/)
    await expectAccessible(page)
  })

  it('shows where the passage says otherwise, unlike where it does not say so', async () => {
    const evidence = 'On Saturdays it opens at ten'
    const verdicts = [
      { statement: 1, evidence, verdict: 'contradicted' },
      { statement: 2, evidence: '', verdict: 'not_said' },
    ]
    const { page } = await openAnswer(
      browser,
      'On Saturdays it opens at noon [1]. It has red chairs on Saturdays [1].',
      { verdicts: JSON.stringify({ verdicts }) },
    )
    const marks = page.getByRole('button', { name: 'Source 1' })
    const card = page.getByRole('tooltip')
    await expect.poll(() => page.locator('button.citation.contradicted').count()).toBe(1)
    expect(await page.locator('button.citation.unsupported').count()).toBe(1)
    await marks.first().focus()
    await expect.poll(() => card.innerText()).toMatch(/says otherwise.*“On Saturdays it opens/)
    await expectAccessible(page)
    await marks.last().focus()
    await expect.poll(() => card.innerText()).toMatch(/does not say this/)
  })

  it('says why the model has checked no citations', async () => {
    const { page } = await openAnswer(browser, 'On Saturdays it opens at ten [1].', {
      verdicts: 'Fine.',
    })
    await page.getByText(/^Citations: .* could not be read: all statements/).waitFor()
    await expectAccessible(page)
  })

  it('shows which marks the server set', async () => {
    const { page } = await openAnswer(
      browser,
      'On Saturdays it opens at ten [1]. On Saturdays it opens at ten.',
    )
    const marks = page.getByRole('button', { name: 'Source 1' })
    await expect.poll(() => marks.count()).toBe(2)
    const card = page.getByRole('tooltip')
    await marks.first().focus()
    expect(await card.innerText()).not.toMatch(/by the server/)
    await marks.last().focus()
    await expect.poll(() => card.innerText()).toMatch(/Cited by the server/)
  })

  it('leads to the same place of the document, at an address of its own', async () => {
    const { page } = await openAnswer(browser, 'On Saturdays the library opens at ten [1].')
    await page.getByRole('button', { name: 'Source 1' }).click()
    await page.getByRole('link', { name: 'Open document' }).click()
    await page.getByRole('heading', { name: 'Handbook', level: 1 }).waitFor()
    expect(page.url()).toMatch(/#\/documents\/[^?]+\?at=\d+-\d+$/)
    await expect.poll(() => isInView(page, 'mark')).toBe(true)
    expect(await page.locator('mark').allInnerTexts()).toEqual([SENTENCE])
  })

  it('marks each of several sentences there, and names their own heading', async () => {
    const { page } = await openAnswer(
      browser,
      'The library opens at nine on weekdays and on Saturdays at ten [1].',
    )
    const source = page.getByRole('button', { name: 'Source 1' })
    await source.hover()
    await expect
      .poll(() => page.getByRole('tooltip').innerText())
      .toMatch(/^Handbook Opening hours/)
    await source.click()
    await page.getByRole('link', { name: 'Open document' }).click()
    await page.getByRole('heading', { name: 'Handbook', level: 1 }).waitFor()
    expect(page.url()).toMatch(/\?at=\d+-\d+,\d+-\d+$/)
    const marks = page.locator('mark')
    await marks.first().waitFor()
    expect((await marks.allInnerTexts()).join('')).toBe(
      `The library opens at nine on weekdays.${SENTENCE}`,
    )
    await page.goto(page.url().replace(/at=.*/, 'at=1-2,x'))
    await marks.first().waitFor({ state: 'detached' })
  })

  it('shows the passage as it was cited when the document is gone', async () => {
    const { page, server, id } = await openAnswer(
      browser,
      'On Saturdays the library opens at ten [1].',
    )
    await page.getByRole('button', { name: 'Source 1' }).waitFor()
    await server.request(`/documents/${id}`, { method: 'DELETE' })
    await page.getByRole('button', { name: 'Source 1' }).click()
    await page.getByText('The document no longer exists.').waitFor()
    expect(await page.locator('.reader mark').allInnerTexts()).not.toEqual([])
  })

  it('fills a telephone, and gives the chat back', async () => {
    const viewport = { width: 390, height: 740 }
    const { page } = await openAnswer(browser, 'On Saturdays the library opens at ten [1].', {
      viewport,
    })
    await page.getByRole('button', { name: 'Source 1' }).click()
    const reader = page.getByRole('complementary', { name: 'Handbook' })
    await reader.locator('mark').first().waitFor()
    expect((await reader.boundingBox())?.width).toBeGreaterThan(370)
    await press(page, 'Close')
    await reader.waitFor({ state: 'detached' })
  })

  it.each([1_280, 1_600])('leaves room beside the chat, %d pixels wide', async (width) => {
    const viewport = { width, height: 800 }
    const answer = 'On Saturdays the library opens at ten [1].'
    const { page } = await openAnswer(browser, answer, { viewport })
    await page.getByRole('button', { name: 'Source 1' }).click()
    const reader = await page.getByRole('complementary', { name: 'Handbook' }).boundingBox()
    const question = await page.locator('.question').boundingBox()
    if (!reader || !question) throw new Error('Nothing is shown')
    expect(reader.x - question.x - question.width).toBeGreaterThan(16)
  })

  it('copies an answer with the sources that it cites, each once', async () => {
    const { page, context } = await openAnswer(browser, 'At ten [1]. On Saturdays, at ten [1].')
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await press(page, 'Copy answer')
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()')
    await expect.poll(copied).toMatch(/\n\nSources:\n\n\[1\] Handbook[^\n]*$/)
  })
})
