import { type AddressInfo, createServer } from 'node:net'
import type { Frame, Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
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

const CONNECTED = 'a connection'

/** Notes what it is asked, and each connection, be it without a question. */
async function startListener() {
  const calls: string[] = []
  const server = createServer((socket) => {
    const place = calls.push(CONNECTED) - 1
    socket.on('error', () => undefined)
    socket.once('data', (data) => {
      calls[place] = String(data).split('\r\n', 1).join()
      socket.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, calls }
}

/** The chat with an answer that has this code. */
async function openAnswered(language: string, code: string) {
  const upstream = await startScriptedUpstream()
  onTestFinished(() => upstream.close())
  const server = await startServer(modelAt(upstream))
  const opened = await openWebUi(browser, server.url, 'chat')
  upstream.always(textReply(`Here it is:\n\n\`\`\`${language}\n${code}\n\`\`\`\n\nThat is all.`))
  await askOn(opened.page, 'Show me')
  await opened.page.getByText('That is all.').waitFor()
  return { ...opened, server }
}

async function shownIn(page: Page): Promise<Frame> {
  const element = await page.locator('.framed iframe').elementHandle()
  const frame = await element?.contentFrame()
  if (!frame) throw new Error('There is no frame')
  return frame
}

const heightOf = (page: Page) =>
  page.locator('.framed iframe').evaluate((frame) => frame.getBoundingClientRect().height)

const hostilePage = (to: string) => `<!doctype html>
<html onclick="top.hacked = 1">
<head>
  <base href="${to}/">
  <meta http-equiv="refresh" content="0;url=${to}/refresh">
  <link rel="preconnect" href="${to}">
  <link rel="stylesheet" href="${to}/x.css">
  <link rel="prefetch" href="${to}/x.html">
  <style>
    @import url(${to}/import.css);
    @font-face { font-family: Elsewhere; src: url(${to}/x.woff2) }
    h1 { color: rgb(0, 128, 128); font-family: Elsewhere; background: url(${to}/x.png) }
    .all { position: fixed; inset: 0; z-index: 9999; block-size: 100000px }
  </style>
  <script>parent.postMessage({ height: 1e9 }, '*'); top.hacked = 2; for (;;);</script>
</head>
<body onload="top.hacked = 3">
  <h1>Opening hours</h1>
  <img src="x" onerror="top.hacked = 4; for (;;);" srcset="${to}/y.png 2x">
  <img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="A dot">
  <svg onload="for (;;);"><script>top.hacked = 5</script><image href="${to}/z.png"/></svg>
  <iframe src="${to}/frame"></iframe>
  <iframe srcdoc="&lt;script&gt;top.hacked = 6&lt;/script&gt;"></iframe>
  <object data="${to}/object"></object><embed src="${to}/embed">
  <video autoplay src="${to}/video.mp4" poster="${to}/poster.png"></video>
  <form action="${to}/form" target="_top"><button>Send</button></form>
  <a href="${to}/away" target="_top" ping="${to}/ping">Away</a>
  <a href="javascript:top.hacked = 7">Run</a>
  <a href="#end">To the end</a>
  <div class="all"></div>
  <p id="end">The end</p>
</body>
</html>`

/** What a script in the frame could do, each as what came of it. */
const reachedFrom = (to: string) => `(async () => {
  const attempt = async (work) => {
    try {
      return String(await work())
    } catch (error) {
      return error.name
    }
  }
  return {
    origin: await attempt(() => origin),
    storage: await attempt(() => localStorage.length),
    cookies: await attempt(() => document.cookie),
    fetch: await attempt(() => fetch('/ui/session')),
    elsewhere: await attempt(() => fetch('${to}')),
    beacon: await attempt(() => navigator.sendBeacon('${to}')),
    page: await attempt(() => parent.document),
    window: await attempt(() => open('${to}')),
    leave: await attempt(() => top.location.assign('${to}')),
    timer: await attempt(() => setTimeout('top.hacked = 8')),
  }
})()`

const DIAGRAM = `%%{init: {"securityLevel": "loose", "htmlLabels": true, "theme": "forest"}}%%
graph TD
  A[Question] -->|is asked| B{Found?}
  B -->|yes| C["<img src=x onerror='top.hacked = 1'>Cited answer"]
  B -->|no| D[Says so]
  click A href "javascript:top.hacked = 2"
  click C call alert("hacked")
  click D href "TO/away" _top`

describe.skipIf(!hasBrowser)('A preview in the chat (needs Chromium)', () => {
  it('shows HTML of an answer, which runs nothing, loads nothing and leads nowhere', async () => {
    const listener = await startListener()
    const { page, context, server } = await openAnswered('html', hostilePage(listener.url))
    const address = page.url()
    expect(page.frames()).toHaveLength(1)
    await press(page, 'Preview')
    const frame = await shownIn(page)
    const title = frame.getByRole('heading', { name: 'Opening hours' })
    await title.waitFor()
    expect(await title.evaluate('getComputedStyle(document.querySelector("h1")).color')).toBe(
      'rgb(0, 128, 128)',
    )
    expect(await page.locator('.code-block pre').isVisible()).toBe(false)
    await expect.poll(() => heightOf(page)).toBeGreaterThan(150)
    expect(await heightOf(page)).toBeLessThanOrEqual(640)
    // What covers all of the frame takes the clicks; a keyboard reaches what is below it.
    for (const name of ['Away', 'Run', 'Send']) {
      const control = frame.getByText(name, { exact: true })
      await control.focus()
      await page.keyboard.press('Enter')
    }
    await expectAccessible(page, 'preview')
    expect(await page.evaluate('window.hacked')).toBeUndefined()
    expect(frame.url()).toBe(`${server.url}/ui/preview/html`)
    expect(page.url()).toBe(address)
    expect(context.pages()).toHaveLength(1)
    expect(listener.calls).toEqual([])
    await press(page, 'Preview')
    expect(await page.locator('iframe').count()).toBe(0)
    expect(await page.locator('.code-block pre').isVisible()).toBe(true)
  })

  it('would let nothing out of a page that nobody has cleaned, nor of a script that got in', async () => {
    const listener = await startListener()
    const { page, context, server, complaints } = await openAnswered('html', '<p>Hours</p>')
    const address = page.url()
    await press(page, 'Preview')
    const frame = await shownIn(page)
    await frame.getByText('Hours').waitFor()
    expect(complaints).toEqual([])
    const raw = hostilePage(listener.url).replace(/<meta http-equiv.*/, '')
    await page.evaluate(
      `document.querySelector('iframe').contentWindow.postMessage(${JSON.stringify({ text: raw })}, '*')`,
    )
    await frame.getByRole('heading', { name: 'Opening hours' }).waitFor()
    const reached = await frame.evaluate(reachedFrom(listener.url))
    expect(reached).toMatchObject({
      origin: 'null',
      storage: 'SecurityError',
      cookies: 'SecurityError',
      fetch: 'TypeError',
      elsewhere: 'TypeError',
      page: 'SecurityError',
      window: 'null',
      leave: 'SecurityError',
      timer: '0',
    })
    await frame.evaluate(
      `for (const height of [1e9, NaN, '9999', -5, {}]) parent.postMessage({ height }, '*')`,
    )
    await expect.poll(() => heightOf(page)).toBe(64)
    await frame.evaluate(`parent.postMessage({ height: 1e9 }, '*')`)
    await expect.poll(() => heightOf(page)).toBeGreaterThan(300)
    expect(await heightOf(page)).toBeLessThanOrEqual(640)
    // Away by itself, to which the page of the chat does not agree.
    await frame.evaluate(`location.assign('${listener.url}/alone')`).catch(() => undefined)
    await page.getByText('That is all.').waitFor()
    expect(await page.evaluate('window.hacked')).toBeUndefined()
    expect(page.url()).toBe(address)
    expect(server.url).toBe(new URL(address).origin)
    expect(context.pages()).toHaveLength(1)
    // Browsers connect beforehand for links and frames that they then refuse, which DOMPurify takes out.
    expect(listener.calls.filter((call) => call !== CONNECTED)).toEqual([])
  })

  it('draws a diagram of an answer with Mermaid, which is loaded for that alone', async () => {
    const listener = await startListener()
    const { page } = await openAnswered('mermaid', DIAGRAM.replace('TO', listener.url))
    const loaded: string[] = []
    page.on('requestfinished', (request) => loaded.push(new URL(request.url()).pathname))
    expect(page.frames()).toHaveLength(1)
    await press(page, 'Show diagram')
    const frame = await shownIn(page)
    await frame.getByText('Cited answer').waitFor()
    // The page also asks for what the API holds, at any time.
    expect(loaded.filter((path) => path.startsWith('/ui/'))).toEqual(['/ui/preview/diagram'])
    await expect.poll(() => heightOf(page)).toBeGreaterThan(200)
    expect(await heightOf(page)).toBeLessThanOrEqual(640)
    for (const name of ['Question', 'Cited answer', 'Says so']) {
      await frame.getByText(name).click({ force: true })
    }
    expect(await frame.locator('script:not(body > script), iframe, [onerror]').count()).toBe(0)
    expect(await page.evaluate('window.hacked')).toBeUndefined()
    expect(new URL(frame.url()).pathname).toBe('/ui/preview/diagram')
    expect(listener.calls).toEqual([])
    await expectAccessible(page, 'diagram')
  })

  it('says why a diagram cannot be drawn', async () => {
    const { page } = await openAnswered('mermaid', 'graph TD\n  A -->')
    await press(page, 'Show diagram')
    await page.getByText('The diagram cannot be drawn: ').waitFor()
    await press(page, 'Show diagram')
    expect(await page.locator('.code-block pre').isVisible()).toBe(true)
  })

  it.each([
    ['has no end', 'gantt\n  excludes 2026-01-02\n  Task :a, 2026-01-01, 99999999d', 'five digits'],
    ['takes minutes', 'gantt\n  excludes 2026-01-02\n  Task :a, 2026-01-01, 99999y', '10 seconds'],
  ])('gives up a diagram that %s', async (_case, code, reason) => {
    const { page } = await openAnswered('mermaid', code)
    await press(page, 'Show diagram')
    await page.getByText('The diagram cannot be drawn: ').getByText(reason).waitFor()
    expect(await page.locator('iframe').count()).toBe(0)
  })

  it('leaves Escape to the page, and only where it was pressed in the frame', async () => {
    const { page } = await openAnswered('html', '<p>Hours</p><a href="#x">A link</a>')
    await press(page, 'Preview')
    const frame = await shownIn(page)
    const link = frame.getByRole('link', { name: 'A link' })
    await link.waitFor()
    const find = page.getByRole('search', { name: 'Find in this conversation' })
    await press(page, 'Find in this conversation')
    await find.waitFor()
    await frame.evaluate(`parent.postMessage({ hasEscaped: true }, '*')`)
    await page.evaluate(`postMessage({ hasEscaped: true }, '*')`)
    await heightOf(page)
    expect(await find.count()).toBe(1)
    await link.focus()
    await page.keyboard.press('Escape')
    await find.waitFor({ state: 'detached' })
  })

  it('keeps what somebody reads where it is, on a telephone, too', async () => {
    const { page } = await openAnswered('html', '<p style="width: 2000px">Hours</p>'.repeat(100))
    await page.setViewportSize({ width: 390, height: 700 })
    const button = page.getByRole('button', { name: 'Preview' })
    await button.scrollIntoViewIfNeeded()
    await button.click()
    const frame = await shownIn(page)
    await frame.getByText('Hours').first().waitFor()
    await expect.poll(() => heightOf(page)).toBe(560)
    const top = () => button.evaluate((one) => one.getBoundingClientRect().top)
    expect(await top()).toBeGreaterThan(0)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
  })
})
