import { describe, expect, it } from 'vitest'
import { askOn, expectAccessible, hasBrowser, openWebUi, useBrowser } from '../support/browser.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { textReply } from '../support/upstream-replies.ts'

const browser = useBrowser()

const DRAWINGS = `\`\`\`svg
<svg width="120" height="60" viewBox="0 0 120 60" onload="top.hacked = 1">
  <style>rect { fill: teal } @import url(http://127.0.0.1:9/x.css);</style>
  <script>top.hacked = 2</script>
  <rect width="60" height="60"/>
  <image href="http://127.0.0.1:9/x.png" width="9" height="9"/>
  <foreignObject width="9" height="9"><iframe xmlns="http://www.w3.org/1999/xhtml" src="/"/></foreignObject>
</svg>
\`\`\`

\`\`\`xml
<svg><not closed</svg>
\`\`\`

\`\`\`html
<p>No drawing <svg></svg></p>
\`\`\``

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

  it('follows to its end what grows while the page still scrolls there, but nobody who scrolled up', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    const { page } = await openWebUi(browser, server.url, 'chat')
    upstream.always(textReply('A long answer.\n\n'.repeat(80)))
    await askOn(page, 'Tell me all')
    await page.locator('.turn-foot').waitFor()
    const below = () =>
      page.evaluate<number>(
        'document.documentElement.scrollHeight - innerHeight - Math.round(scrollY)',
      )
    await expect.poll(below).toBeLessThan(2)
    // What arrives late, before the page hears that it has scrolled.
    const grow = `(() => {
      const late = document.createElement('div')
      late.style.height = '500px'
      document.querySelector('.turn').append(late)
      dispatchEvent(new Event('scroll'))
    })()`
    await page.evaluate(grow)
    await expect.poll(below).toBeLessThan(2)
    await page.mouse.move(700, 300)
    await page.mouse.wheel(0, -800)
    await expect.poll(below).toBeGreaterThan(700)
    const before = await below()
    await page.evaluate(grow)
    await expect.poll(below).toBeGreaterThanOrEqual(before + 500)
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

  it('shows a drawing of its answer where that is wanted, in which nothing runs or calls out', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    const { page, complaints } = await openWebUi(browser, server.url, 'chat')
    upstream.always(textReply(DRAWINGS))
    await askOn(page, 'Draw it')
    const blocks = page.locator('.code-block')
    const buttons = page.getByRole('button', { name: 'Show drawing' })
    await expect.poll(() => buttons.count()).toBe(2)
    await buttons.first().click()
    const width = () =>
      page.evaluate<number>(`document.querySelector('.drawing img')?.naturalWidth ?? 0`)
    await expect.poll(width).toBe(120)
    expect(await buttons.first().getAttribute('aria-pressed')).toBe('true')
    expect(await blocks.first().locator('pre').isVisible()).toBe(false)
    await expectAccessible(page, 'drawing')
    expect(await page.evaluate('window.hacked')).toBeUndefined()
    await buttons.first().click()
    expect(await blocks.first().locator('pre').isVisible()).toBe(true)
    await buttons.last().click()
    await blocks.getByText('The browser cannot show this drawing.').waitFor()
    // Nothing was asked of another server.
    expect(complaints).toEqual([])
    await upstream.close()
  })
})
