import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { hasBrowser, openWebUi, PAGES, useBrowser } from '../support/browser.ts'
import { startServer } from '../support/server.ts'

const browser = useBrowser()
const MAX_SHIFT = 0.05
/** Long enough that a page is painted without what it asks for. */
const SLOW_MS = 1_000
/** These show what is about to be there. */
const WITH_SKELETON = ['overview', 'documents', 'models', 'keys', 'settings']
/** The cumulative layout shift: https://web.dev/articles/cls. */
const SUM_SHIFTS = `window.shifts = 0
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shifts += value
}).observe({ type: 'layout-shift', buffered: true })`

/** Marks what has had the focus, and whether it was seen there. */
const WATCH_FOCUS = `window.reached = new Set()
window.unseen = []
document.addEventListener('focusin', ({ target }) => {
  window.reached.add(target)
  const shown = target.matches('.choice input') ? target.nextElementSibling : target
  if (getComputedStyle(shown).outlineStyle === 'none') window.unseen.push(target.outerHTML.slice(0, 100))
})`
/** What can be used but was not reached; of choices, arrow keys reach the others. */
const UNREACHED = `[...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled)
  .filter((one) => one.type !== 'radio' && !one.closest('[inert]') && !window.reached.has(one))
  .map(({ outerHTML }) => outerHTML.slice(0, 100))`
const MAX_STOPS = 200

describe.skipIf(!hasBrowser)('Pages (needs Chromium)', () => {
  it.each(PAGES)('reach everything with Tab alone, and show where it is: %s', async (path) => {
    const server = await startServer()
    await server.ingest({ title: 'Owls', text: 'Owls hoot at night.' })
    const { page } = await openWebUi(browser, server.url, path)
    await expect.poll(() => page.locator('.skeleton').count()).toBe(0)
    await page.evaluate(WATCH_FOCUS)
    await page.evaluate('document.activeElement.blur()')
    const unreached = async () => {
      for (let stop = 0; stop < MAX_STOPS; stop += 1) {
        await page.keyboard.press('Tab')
        if (await page.evaluate('document.activeElement === document.body')) break
      }
      return page.evaluate<string[]>(UNREACHED)
    }
    // What the page shows later than the round has passed is reached in another one.
    await expect.poll(unreached).toEqual([])
    expect(await page.evaluate('window.reached.size')).toBeGreaterThan(10)
    expect(await page.evaluate('window.unseen')).toEqual([])
  })

  it('are shown in the server’s own font, of which the browser fetches the alphabets that are shown', async () => {
    const server = await startServer()
    await server.ingest({ title: 'Sofia', text: 'Sofia' })
    const { page, complaints } = await openWebUi(browser, server.url, 'documents')
    const alphabets = () =>
      page.evaluate<string[]>(`[...document.fonts]
        .filter(({ family, status }) => family === 'Inter' && status === 'loaded')
        .map(({ unicodeRange }) => unicodeRange.slice(0, 5)).toSorted()`)
    await expect.poll(alphabets).toEqual(['U+0-F'])
    await server.ingest({ title: 'Σοφία и София', text: 'Sofia' })
    await expect.poll(alphabets).toEqual(['U+0-F', 'U+301', 'U+370'])
    expect(complaints).toEqual([])
  })

  it.each([1_280, 390])('do not jump on a slow connection, %d pixels wide', async (width) => {
    const server = await startServer()
    const id = await server.ingest({ title: 'Owls', text: 'Owls hoot at night.' })
    const viewport = { width, height: 844 }
    const { page } = await openWebUi(browser, server.url, 'overview', { viewport })
    await page.route('**/ui/api/**', async (route) => {
      await pause(SLOW_MS)
      await route.fallback()
    })
    const shifts: Record<string, number> = {}
    for (const path of [...PAGES, `documents/${id}`]) {
      await page.goto(`${server.url}/#/${path}`)
      await page.reload()
      await page.evaluate(SUM_SHIFTS)
      if (WITH_SKELETON.includes(path)) await page.locator('.skeleton').first().waitFor()
      await expect.poll(() => page.locator('.skeleton').count()).toBe(0)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await pause(2 * SLOW_MS)
      shifts[path] = await page.evaluate<number>('window.shifts')
    }
    expect(Object.entries(shifts).filter(([, shift]) => shift > MAX_SHIFT)).toEqual([])
  })
})
