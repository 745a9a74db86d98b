import { describe, expect, it } from 'vitest'
import { askOn, expectAccessible, hasBrowser, openWebUi, useBrowser } from '../support/browser.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { textReply } from '../support/upstream-replies.ts'

const browser = useBrowser()

describe.skipIf(!hasBrowser)('A conversation (needs Chromium)', () => {
  it.each([1_280, 390])('leaves no row empty between turns, %d pixels wide', async (width) => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    const viewport = { width, height: 844 }
    const { page } = await openWebUi(browser, server.url, 'chat', { viewport })
    upstream.always(textReply('An answer.'))
    for (const question of ['Short', 'A long question, '.repeat(20)]) {
      await askOn(page, question)
      await page.locator('.turn:last-child .turn-foot').waitFor()
    }
    await page.mouse.move(0, 0)
    const gaps = await page.evaluate<number[]>(`[...document.querySelectorAll('.turn')]
      .map((turn) => turn.querySelector('.answer').getBoundingClientRect().top
        - turn.querySelector('.question > .stack').getBoundingClientRect().bottom)`)
    expect(gaps).toHaveLength(2)
    for (const gap of gaps) expect(gap).toBeLessThan(24)
    const edit = page.getByRole('button', { name: 'Edit question 2' })
    await edit.hover()
    const opacity = `getComputedStyle(document.querySelector('.turn:last-child [title=Edit]')).opacity`
    await expect.poll(() => page.evaluate(opacity)).toBe('1')
    await upstream.close()
  })

  it('suggests what to ask next, and asks the model only once somebody chooses it', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    const chapters = ['Hours', 'Fees', 'Staff', 'Rooms', 'Rules'].map(
      (name) => `# ${name}\n\nWhat the library says about ${name}, at length. `,
    )
    await server.ingest({ title: 'Handbook', text: chapters.join('\n\n') })
    const { page } = await openWebUi(browser, server.url, 'chat')
    upstream.always(textReply('What the library says about Fees [1].'))
    await askOn(page, 'What about fees in the library?')
    const next = page.getByRole('list', { name: 'Suggested follow-up questions' })
    const suggestions = () => next.getByRole('button').allInnerTexts()
    await next.waitFor()
    expect(await suggestions()).toHaveLength(3)
    expect((await suggestions()).join()).not.toContain('Fees')
    await expectAccessible(page, 'follow-ups')
    expect(upstream.requests).toHaveLength(1)
    const [first = ''] = await suggestions()
    await next.getByRole('button').first().click()
    await page.locator('.question', { hasText: first }).waitFor()
    await expect.poll(() => upstream.requests.length).toBe(2)
    await page.locator('.turn:last-child .turn-foot').waitFor()
    expect(await next.count()).toBe(1)
    expect(await suggestions()).not.toContain(first)
    await upstream.close()
  })
})
