import type { Locator } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  askOn,
  expectAccessible,
  hasBrowser,
  openWebUi,
  press,
  useBrowser,
} from '../support/browser.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'
import { chunk, DONE, streamReply } from '../support/upstream-replies.ts'

const browser = useBrowser()
const TURNS = 200
/** What the server takes at once. */
const ITEMS = 20
/** Of an answer that is streamed. */
const PIECES = 60

const Items = z.object({ data: z.array(z.object({ id: z.string() })) })
const Created = z.object({ id: z.string() })

/** A conversation with these answers, without a model. */
async function talked(server: TestServer, answers: readonly string[]): Promise<string> {
  const { id } = Created.parse(
    await (await server.request('/v1/conversations', { body: {} })).json(),
  )
  const items = answers.flatMap((content, place) => [
    { role: 'user', content: `Question number ${place + 1}` },
    { role: 'assistant', content },
  ])
  for (let from = 0; from < items.length; from += ITEMS) {
    await add(server, id, items.slice(from, from + ITEMS))
  }
  return id
}

const expectFocus = (field: Locator) =>
  expect.poll(() => field.evaluate((one) => one.ownerDocument.activeElement === one)).toBe(true)

async function add(server: TestServer, id: string, items: readonly object[]): Promise<void> {
  const added = await server.request(`/v1/conversations/${id}/items`, { body: { items } })
  expect(added.status).toBe(200)
}

describe.skipIf(!hasBrowser)('In a conversation (needs Chromium)', () => {
  it(`words are found in all of ${TURNS} turns, counted, and shown one after the other`, async () => {
    const server = await startServer()
    const answers = Array.from({ length: TURNS }, (_, turn) => `Answer of **turn** ${turn + 1}.`)
    answers[2] = 'Owls hunt at **night**.\n\n```python\nowls = 2\n```'
    answers[150] = 'Nothing about OWLS, or owls\nhunt.'
    const id = await talked(server, answers)
    const { page, complaints } = await openWebUi(browser, server.url, `chat/${id}`)
    await page.getByText(`Answer of turn ${TURNS}.`).waitFor()
    await page.getByRole('button', { name: 'Find in this conversation' }).click()
    const bar = page.getByRole('search', { name: 'Find in this conversation' })
    const field = bar.getByRole('searchbox')
    const status = bar.getByRole('status')
    const inSight = (place: number) =>
      page.getByRole('article', { name: `Question ${place}`, exact: true }).evaluate((turn) => {
        const { top, bottom } = turn.getBoundingClientRect()
        return top < 800 && bottom > 0
      })
    await page.keyboard.type('owls')
    // From the last turn on, and then from the beginning.
    await expect.poll(() => status.innerText()).toBe('1 of 4')
    await expect.poll(() => inSight(3)).toBe(true)
    await expectAccessible(page, 'find')
    await page.keyboard.press('Enter')
    await expect.poll(() => status.innerText()).toBe('2 of 4')
    await press(page, 'Next match')
    await expect.poll(() => status.innerText()).toBe('3 of 4')
    await expect.poll(() => inSight(151)).toBe(true)
    await field.press('Shift+Enter')
    await field.press('Shift+Enter')
    await field.press('Shift+Enter')
    await expect.poll(() => status.innerText()).toBe('4 of 4')
    const marked = (name: string) =>
      page.evaluate<string[]>(
        `[...CSS.highlights.get('${name}')].map((range) => range.toString().toLowerCase())`,
      )
    expect(await marked('found')).toEqual(['owls', 'owls', 'owls', 'owls'])
    // Words go on where one of them is bold, and where a line ends, but not from one turn to another.
    await field.fill('hunt at night')
    await expect.poll(() => status.innerText()).toBe('1 of 1')
    await field.fill('owls hunt')
    // The search goes on from the match that was looked at.
    await expect.poll(() => status.innerText()).toBe('2 of 2')
    await field.fill('Copy code')
    await expect.poll(() => status.innerText()).toBe('Not found')
    await field.press('Escape')
    await bar.waitFor({ state: 'detached' })
    expect(await marked('found')).toEqual([])
    // Who found it there gets the focus back, and who writes elsewhere by now keeps it.
    const find = page.getByRole('button', { name: 'Find in this conversation' })
    await expectFocus(find)
    await find.click()
    const question = page.getByLabel('Question', { exact: true })
    await question.pressSequentially('And')
    await question.press('Escape')
    await bar.waitFor({ state: 'detached' })
    await page.keyboard.type(' herons?')
    await expect.poll(() => question.inputValue()).toBe('And herons?')
    expect(complaints).toEqual([])
  })

  it('words are found in the part of a long answer that is not drawn yet, from the palette, too', async () => {
    const server = await startServer()
    const id = await talked(server, [
      `${'Nothing here.\n\n'.repeat(20_000)}The very end.`,
      'Short.',
    ])
    const { page } = await openWebUi(browser, server.url, `chat/${id}`)
    await page.getByText('Short.').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByLabel('Page, conversation or document').fill('find in')
    await page.getByRole('option', { name: 'Find in this conversation' }).click()
    await page.keyboard.type('the very end')
    await page.getByText('1 of 1', { exact: true }).waitFor()
    const end = page.locator('.answer').first().getByText('The very end.')
    await expect
      .poll(() => end.evaluate((one) => one.getBoundingClientRect().top))
      .toBeGreaterThan(0)
    await page.getByRole('link', { name: 'Documents', exact: true }).first().click()
    await page.getByRole('heading', { name: 'Documents', level: 1 }).waitFor()
  })

  it('an answer that grows is searched twice a second, also beyond what is drawn of it', async () => {
    const upstream = await startScriptedUpstream()
    const server = await startServer(modelAt(upstream))
    await server.ingest({ title: 'Hours', text: 'The library opens at ten.' })
    const { page } = await openWebUi(browser, server.url, 'chat')
    const [isFinding, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const pieces = Array.from({ length: PIECES }, () => [
      { pauseMs: 50 },
      chunk({ content: 'An owl.\n\n' }),
    ]).flat()
    upstream.script(
      streamReply(
        chunk({ content: 'Nothing here.\n\n'.repeat(8_000) }),
        { until: isFinding.promise },
        ...pieces,
        { until: end.promise },
        chunk({}, 'stop'),
        DONE,
      ),
    )
    await askOn(page, 'Which birds?')
    await page.getByRole('button', { name: /^Show more of the answer/ }).waitFor()
    await press(page, 'Find in this conversation')
    const bar = page.getByRole('search', { name: 'Find in this conversation' })
    const status = bar.getByRole('status')
    await page.keyboard.type('owl')
    await expect.poll(() => status.innerText()).toBe('Not found')
    // Each search marks what it finds.
    await page.evaluate(`
      const { set } = HighlightRegistry.prototype
      window.searches = 0
      HighlightRegistry.prototype.set = function (name, found) {
        if (name === 'found') window.searches += 1
        return set.call(this, name, found)
      }`)
    const began = performance.now()
    isFinding.resolve()
    await expect.poll(() => status.innerText()).toBe(`1 of ${PIECES}`)
    const most = (performance.now() - began) / 500 + 2
    expect(await page.evaluate<number>('window.searches')).toBeLessThan(most)
    // Escape closes the search, wherever the focus is in it, and does not stop the answer; the next one does.
    await press(page, 'Next match')
    await expect.poll(() => status.innerText()).toBe(`2 of ${PIECES}`)
    await page.keyboard.press('Escape')
    await bar.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' })
    end.resolve()
    // Whoever asks for the search while it is open gets its field.
    const field = bar.getByRole('searchbox')
    const find = page.getByRole('button', { name: 'Find in this conversation' })
    await find.click()
    await expectFocus(field)
    await page.getByLabel('Question', { exact: true }).focus()
    await find.click()
    await expectFocus(field)
    await page.getByLabel('Question', { exact: true }).focus()
    await page.keyboard.press('Control+k')
    await page.getByLabel('Page, conversation or document').fill('find in')
    await page.keyboard.press('Enter')
    await expectFocus(field)
  })

  it('a link leads to one turn, marks it, and shows the version that it is in', async () => {
    const server = await startServer()
    const id = await talked(
      server,
      Array.from({ length: TURNS }, (_, turn) => `Answer of turn ${turn + 1}.`),
    )
    const { page, context } = await openWebUi(browser, server.url, `chat/${id}`)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const third = page.getByRole('article', { name: 'Question 3', exact: true })
    await third.getByText('More').click()
    await third.getByRole('button', { name: 'Copy link' }).click()
    await third.getByText('Copied').waitFor()
    const link = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(link).toContain(`${server.url}/#/chat/${id}?turn=`)
    // Another version of the third question is shown from now on.
    const listed = await server.request(`/v1/conversations/${id}/items?limit=10&order=asc`)
    const { data } = Items.parse(await listed.json())
    expect(link).toContain(`?turn=${data[4]?.id}`)
    const before = { last_item_id: data[3]?.id }
    expect((await server.request(`/v1/conversations/${id}`, { body: before })).status).toBe(200)
    await add(server, id, [{ role: 'user', content: 'Another third question' }])
    const other = await context.newPage()
    await other.goto(page.url())
    await other.getByText('Another third question').waitFor()
    await other.goto(link)
    const linked = other.locator('.turn.linked')
    const top = () => linked.evaluate((one) => one.getBoundingClientRect().top)
    await expect.poll(top).toBeLessThan(200)
    expect(await top()).toBeGreaterThanOrEqual(0)
    expect(await linked.getByText('Answer of turn 3.').count()).toBe(1)
    await other.getByText('1 / 2').waitFor()
    await expectAccessible(other, 'linked')
    await other.goto(link.replace(/turn=.*/, 'turn=msg_nothing'))
    await other.getByText('The link leads to a message that is not in this').waitFor()
  })
})
