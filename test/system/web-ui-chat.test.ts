import { describe, expect, it } from 'vitest'
import {
  askOn,
  expectAccessible,
  goTo,
  hasBrowser,
  openWebUi,
  useBrowser,
} from '../support/browser.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import {
  chunk,
  DONE,
  errorReply,
  hangReply,
  streamReply,
  textReply,
  toolCallReply,
} from '../support/upstream-replies.ts'

const browser = useBrowser()
const FIRST_PAGES = ['Chat', 'Documents', 'Search', 'Overview']

describe.skipIf(!hasBrowser)('Chat (needs Chromium)', () => {
  it('can be stopped, asked again, and says what went wrong with the model', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    const { page } = await openWebUi(browser, server.url, 'chat')
    upstream.always(hangReply())
    await askOn(page, 'First question')
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped.').waitFor()
    const spoken = () => page.locator('.chat-main > [role=status]').innerText()
    expect(await spoken()).toBe('Stopped')

    upstream.always(errorReply(401, 'Wrong key'))
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('alert').filter({ hasText: /key/ }).waitFor()
    expect(await spoken()).toBe('')

    upstream.always(textReply('A **bold** answer.'))
    await page.getByRole('button', { name: 'Edit question 1' }).click()
    await page.getByLabel('Question', { exact: true }).first().fill('Second question')
    await page.getByRole('button', { name: 'Ask again' }).click()
    await page.locator('strong', { hasText: 'bold' }).waitFor()
    await expect.poll(spoken).toBe('The answer is complete')
    expect(await page.locator('.turns').getByText('First question').count()).toBe(0)
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('question')
    await upstream.close()
  })

  it('says what it waits for and how long, and stops with Escape', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    await server.ingest({ title: 'Owls', text: 'Owls hoot at night.' })
    const { page } = await openWebUi(browser, server.url, 'chat')
    const [search, thought] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route('**/chat', async (route) => {
      await search.promise
      await route.continue()
    })
    const thinking = chunk({ reasoning_content: 'Hm.' })
    upstream.always(streamReply({ until: thought.promise }, thinking, { hang: true }))
    await askOn(page, 'When do owls hoot?')
    await page.getByText('Searching the documents').first().waitFor()
    search.resolve()
    await page.getByText('1 passage found, waiting for the model').first().waitFor()
    thought.resolve()
    await page.getByText('The model is thinking').first().waitFor()
    await page.getByText(/[3-9] s, Esc to stop/).waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Stopped.').waitFor()
    await upstream.close()
  })

  it('marks sources from their first letter on, and opens them once they are known', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    await server.ingest({ title: 'Owls', text: 'Owls hoot at night.' })
    const { page } = await openWebUi(browser, server.url, 'chat')
    const { promise: isSeen, resolve: goOn } = Promise.withResolvers<void>()
    const [begun, ended] = [chunk({ content: 'At night [1], ' }), chunk({ content: 'they hoot.' })]
    upstream.always(streamReply(begun, { until: isSeen }, ended, chunk({}, 'stop'), DONE))
    await askOn(page, 'When do owls hoot?')
    await page.locator('span.citation', { hasText: '1' }).waitFor()
    expect(await page.locator('button.citation').count()).toBe(0)
    goOn()
    await page.getByRole('button', { name: 'Source 1' }).waitFor()
    expect(await page.locator('span.citation').count()).toBe(0)
    await upstream.close()
  })

  it('searches with the effort that is chosen, and says what it searched for', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    const { page } = await openWebUi(browser, server.url, 'chat')
    await page.locator('form.composer summary').click()
    await page.getByLabel('Search effort').selectOption('high')
    upstream.always(hangReply())
    await askOn(page, 'First question')
    await page.getByText('Searched for “First question”').first().waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Stopped.').waitFor()
    await upstream.close()
  })

  it('can be stopped before the server has stored the question', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    const { page } = await openWebUi(browser, server.url, 'chat')
    upstream.always(hangReply())
    const { promise: isStopped, resolve: goOn } = Promise.withResolvers<void>()
    await page.route('**/chat', async (route) => {
      await isStopped
      await route.continue()
    })
    await askOn(page, 'First question')
    await page.getByRole('button', { name: 'Stop' }).click()
    goOn()
    await page.getByText('Stopped.').waitFor()
    await upstream.close()
  })

  it('draws code to copy, task boxes, aligned columns and Arabic as people expect', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    const { page, context, complaints } = await openWebUi(browser, server.url, 'chat')
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const code = `const line = '${'long '.repeat(60)}'`
    const text = [
      `\`\`\`ts\n${code}\n\`\`\``,
      '# Large\n\n## Less\n\n### Least',
      '- [x] done\n- [ ] open',
      '| a | b |\n| :- | -: |\n| 1 | 2 |',
      'مرحبا',
    ]
    upstream.always(textReply(text.join('\n\n')))
    await askOn(page, 'Show all')
    const block = page.getByRole('figure', { name: /ts/ })
    await block.getByRole('button', { name: 'Copy code' }).click()
    await block.getByText('Copied').waitFor()
    const copied = page.evaluate<string>('navigator.clipboard.readText()')
    expect(await copied).toBe(code)
    await expectAccessible(page)
    const isScrolling =
      'const pre = document.querySelector(".code-block pre"); pre.scrollWidth > pre.clientWidth'
    expect(await page.evaluate(isScrolling)).toBe(true)
    expect(await page.locator('.answer li').allInnerTexts()).toEqual(['☑ done', '☐ open'])
    const styleOf = (selector: string, name: string) =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).${name}`)
    expect(await styleOf('.answer td:last-child', 'textAlign')).toBe('end')
    const sizes = await Promise.all(
      ['h3', 'h4', 'h5'].map((name) => styleOf(`.answer ${name}`, 'fontSize')),
    )
    const [large = 0, less = 0, least = 0] = sizes.map(Number.parseFloat)
    expect(large > less && less > least && large < 24).toBe(true)
    expect(await styleOf('.answer-part > p:last-child', 'direction')).toBe('rtl')
    expect(complaints).toEqual([])
    await upstream.close()
  })

  it('writes each text from its own side: question, answer, source, sentence and document', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    const sentence = 'تفتح المكتبة أبوابها في الساعة التاسعة.'
    await server.ingest({ title: 'المكتبة', text: sentence })
    const { page } = await openWebUi(browser, server.url, 'chat')
    upstream.always(textReply('تفتح المكتبة في الساعة التاسعة [1].'))
    await page.getByLabel('Question', { exact: true }).fill('متى تفتح المكتبة؟')
    const isRightToLeft = (selector: string) =>
      page
        .locator(selector)
        .last()
        .evaluate((element) => element.matches(':dir(rtl)'))
    expect(await isRightToLeft('.composer-field > textarea')).toBe(true)
    await page.keyboard.press('Enter')
    await page.getByText(/tokens/).waitFor()
    const source = page.getByRole('button', { name: 'Source 1' })
    await source.focus()
    await page.getByRole('tooltip').waitFor()
    for (const selector of ['.question p', '.answer p', '.citation-card .quoted', 'aside li a']) {
      expect(await isRightToLeft(selector), selector).toBe(true)
    }
    const [whole, bubble] = [page.locator('.question'), page.locator('.question > .stack')]
    const right = ({ x, width } = { x: Number.NaN, width: 0 }) => Math.round(x + width)
    expect(right((await bubble.boundingBox()) ?? undefined)).toBe(
      right((await whole.boundingBox()) ?? undefined),
    )
    await source.press('Enter')
    await page.locator('.reader mark').first().waitFor()
    for (const selector of ['.reader h2', '.document-text p']) {
      expect(await isRightToLeft(selector), selector).toBe(true)
    }
    await upstream.close()
  })

  it('nests headings without a gap, wherever an answer begins', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    const { page } = await openWebUi(browser, server.url, 'chat')
    const levels = ['### First', '##### Below', '### Second', '# Last', '## Below it']
    upstream.always(textReply(levels.join('\n\n')))
    await askOn(page, 'Show headings')
    await page.getByText(/tokens/).waitFor()
    const names = await page
      .locator('.answer :is(h3, h4, h5, h6)')
      .evaluateAll((all) => all.map(({ localName, textContent }) => `${localName} ${textContent}`))
    expect(names).toEqual(['h3 First', 'h4 Below', 'h3 Second', 'h3 Last', 'h4 Below it'])
    await expectAccessible(page)
    await upstream.close()
  })

  it('distinguishes notes, formulas and code from citations, as the server does', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    await server.ingest({ title: 'Owls', text: 'Owls hoot at night.' })
    const { page, complaints } = await openWebUi(browser, server.url, 'chat')
    const text = [
      'Owls hoot at night [1].[^1] Take $M = [1]$, `x` and a[1], as some say[^2].',
      '[^1]: Not by day, as is said of them [1].',
      '[1]: https://example.org/owls',
    ]
    upstream.always(textReply(text.join('\n\n')))
    await askOn(page, 'When do owls hoot?')
    await page.getByRole('button', { name: 'Note a' }).click()
    const note = page.locator('.note-text:focus')
    expect(await note.innerText()).toMatch(/^a Not by day, as is said of them 1\.$/)
    const shown = await page.locator('.answer').innerText()
    expect(shown).toContain('and a[1], as some say[^2].')
    expect(await page.getByRole('button', { name: 'Source 1' }).count()).toBe(3)
    const id = page.url().split('/').at(-1)
    await expect
      .poll(async () => (await server.request(`/v1/conversations/${id}/items`)).text())
      .toMatch(/^(?:(?!"at":).)*(?:"at":(?:(?!"at":).)*){3}$/s)
    await expectAccessible(page)
    expect(complaints).toEqual([])
    await upstream.close()
  })

  it('draws formulas, but no prices, and loads what draws them with the first', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    const { page, complaints } = await openWebUi(browser, server.url, 'chat')
    const loaded: string[] = []
    page.on('request', (request) => loaded.push(request.url()))
    const isLoaded = () => loaded.some((url) => url.includes('/typeset-'))
    upstream.always(textReply('It costs $5, not $10.'))
    await askOn(page, 'What does it cost?')
    await page.getByText('It costs $5, not $10.').waitFor()
    await page.getByText(/tokens/).waitFor()
    expect(isLoaded()).toBe(false)

    const rest = Promise.withResolvers<void>()
    const start = 'With $\\sqrt[3]{x}$ and \\(\\mathbb{R}\\).\n\n$$\n\\frac{1}'
    const end = [{ until: rest.promise }, chunk({ content: '{2}\n$$\n\nNot $\\wrong$.' })]
    upstream.always(streamReply(chunk({ content: start }), ...end, chunk({}, 'stop'), DONE))
    await askOn(page, 'And then?')
    const answer = page.locator('.answer').last()
    await answer.locator('math mroot').waitFor()
    await answer.getByText('ℝ').waitFor()
    await page.evaluate('getSelection().selectAllChildren(document.querySelector("math mroot"))')
    rest.resolve()
    await answer.locator('math[display="block"] mfrac').waitFor()
    await answer.getByText('Not $\\wrong$.').waitFor()
    expect(isLoaded()).toBe(true)
    // What was drawn before is not drawn again.
    expect(await page.evaluate('getSelection().toString()')).not.toBe('')
    await expectAccessible(page)
    expect(complaints).toEqual([])
    await upstream.close()
  })

  it('colours code once it is complete, legibly in light and dark, and loads what does with the first', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    const { page, complaints } = await openWebUi(browser, server.url, 'chat')
    const loaded: string[] = []
    page.on('request', (request) => loaded.push(request.url()))
    const isLoaded = () => loaded.some((url) => url.includes('/code-colours-'))
    const rest = Promise.withResolvers<void>()
    const start = '```what\nlet x\n```\n\n```ts\n// why\nconst line: string = "<b>" + f(1)\n'
    const end = [{ until: rest.promise }, chunk({ content: '```\n\nDone.' })]
    upstream.always(streamReply(chunk({ content: start }), ...end, chunk({}, 'stop'), DONE))
    await askOn(page, 'Show code')
    const code = page.locator('.answer code').last()
    await code.getByText('const line').waitFor()
    expect(isLoaded()).toBe(false)
    rest.resolve()
    await code.locator('.hljs-keyword', { hasText: 'const' }).waitFor()
    expect(await code.innerText()).toBe('// why\nconst line: string = "<b>" + f(1)')
    expect(await page.locator('.answer code').first().locator('span').count()).toBe(0)
    await expectAccessible(page)
    await page.emulateMedia({ colorScheme: 'dark' })
    await expectAccessible(page)
    expect(complaints).toEqual([])
    await upstream.close()
  })

  it('describes in words what the tools did, folded', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    await server.ingest({ title: 'Owls', text: 'Owls hunt at night.' })
    const { page, complaints } = await openWebUi(browser, server.url, 'chat')
    const search = { name: 'semantic_search', arguments: { query: 'owls', topK: 3 } }
    upstream.script(toolCallReply(search), textReply('At night [1].'))
    await askOn(page, 'When?')
    await page.locator('.answer', { hasText: 'At night' }).waitFor()
    const steps = page.locator('.steps')
    expect(await steps.isVisible()).toBe(false)
    await page.getByText('1 step', { exact: true }).click()
    await steps.getByText('Searched the documents for “owls”: 1 passage').click()
    await steps.getByText('Owls hunt at night.').waitFor()
    expect(await steps.innerText()).not.toMatch(/passages>|\{|Key:|source-|semantic_search/)
    await expectAccessible(page)
    expect(complaints).toEqual([])
    await upstream.close()
  })

  it('keeps what is selected while the answer grows', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    const { page } = await openWebUi(browser, server.url, 'chat')
    const rest = Promise.withResolvers<void>()
    const end = [{ until: rest.promise }, chunk({ content: 'Third.' }), chunk({}, 'stop'), DONE]
    upstream.always(streamReply(chunk({ content: 'First.\n\nSecond.\n\n' }), ...end))
    await askOn(page, 'Say three')
    await page.getByText('Second.').waitFor()
    await page.evaluate('getSelection().selectAllChildren(document.querySelector(".answer p"))')
    rest.resolve()
    await page.getByText('Third.').waitFor()
    expect(await page.evaluate('getSelection().toString()')).toBe('First.')
    await upstream.close()
  })

  it('opens at its end on a telephone, too, whose navigation is below', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    const viewport = { width: 360, height: 740 }
    const { page } = await openWebUi(browser, server.url, 'chat', { viewport })
    upstream.always(textReply(Array.from({ length: 60 }, (_, n) => `Line ${n}.`).join('\n\n')))
    await askOn(page, 'First question')
    await page.getByText('Line 59.').waitFor()
    const navigation = page.getByRole('navigation').first()
    expect(await navigation.getByRole('link').allInnerTexts()).toEqual(FIRST_PAGES)
    expect((await navigation.boundingBox())?.y).toBeGreaterThan(640)
    await navigation.getByRole('button', { name: 'More' }).click()
    await page.getByRole('dialog').getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
    expect(await navigation.getByRole('link', { name: 'Settings' }).isVisible()).toBe(true)
    await goTo(page, 'Chat')
    const last = page.getByText('Line 59.')
    await expect.poll(async () => ((await last.boundingBox())?.y ?? Infinity) < 740).toBe(true)
    await upstream.close()
  })

  it('moves on to a question that is asked while something earlier is read', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    const { page } = await openWebUi(browser, server.url, 'chat')
    upstream.always(textReply(Array.from({ length: 60 }, (_, n) => `Line ${n}.`).join('\n\n')))
    await askOn(page, 'First question')
    await page.getByText('Line 59.').waitFor()
    await page.evaluate('window.scrollTo(0, 0)')
    await expect.poll(() => page.evaluate('window.scrollY')).toBe(0)
    upstream.always(textReply('The second answer.'))
    await askOn(page, 'Second question')
    const answer = page.getByText('The second answer.')
    await answer.waitFor()
    await expect.poll(async () => ((await answer.boundingBox())?.y ?? Infinity) < 800).toBe(true)
    await upstream.close()
  })
})
