import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import {
  askOn,
  expectAccessible,
  goTo,
  hasBrowser,
  openWebUi,
  press,
  useBrowser,
} from '../support/browser.ts'
import { modelRequest } from '../support/model-request.ts'
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, TEST_KEY } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'
import { chunk, DONE, errorReply, streamReply, textReply } from '../support/upstream-replies.ts'

const browser = useBrowser()

const asked = (page: Page, question: string) => page.locator('.question', { hasText: question })
const answered = (page: Page, answer: string) => page.locator('.answer', { hasText: answer })
const listOf = (page: Page) => page.getByRole('complementary', { name: 'Conversations' })
/** What the model was sent last, without the rules. */
const told = ({ requests }: ScriptedUpstream) =>
  modelRequest(requests.at(-1)).messages.filter(({ role }) => role !== 'system')

async function open() {
  const upstream = await startScriptedUpstream()
  const server = await startServer(modelAt(upstream))
  return { upstream, server, ...(await openWebUi(browser, server.url, 'chat')) }
}

async function say(page: Page, upstream: ScriptedUpstream, question: string, answer: string) {
  upstream.always(textReply(answer))
  await askOn(page, question)
  // Marks are shown as buttons.
  await answered(page, answer.replace(/ \[\d\].*/, ''))
    .first()
    .waitFor()
}

/** A model that says the beginning, and the rest when it may. */
function halting(upstream: ScriptedUpstream) {
  const rest = Promise.withResolvers<void>()
  const end = [{ until: rest.promise }, chunk({ content: 'the rest.' }), chunk({}, 'stop'), DONE]
  upstream.always(streamReply(chunk({ content: 'The beginning, ' }), ...end))
  return rest
}

describe.skipIf(!hasBrowser)('Conversations (need Chromium)', () => {
  it('lose nothing when an earlier question is asked again or changed', async () => {
    const { page, upstream } = await open()
    await say(page, upstream, 'First question', 'First answer.')
    await say(page, upstream, 'Second question', 'Second answer.')
    upstream.always(textReply('Another first answer.'))
    await page.getByRole('button', { name: 'Retry' }).first().click()
    await answered(page, 'Another first answer.').waitFor()
    expect(await asked(page, 'Second question').count()).toBe(0)
    await page.getByRole('button', { name: 'Previous version' }).click()
    await answered(page, 'Second answer.').waitFor()
    await page.reload()
    await answered(page, 'Second answer.').waitFor()
    const edit = page.getByRole('button', { name: 'Edit question 2' })
    await edit.click()
    await press(page, 'Cancel')
    const isFocused = () => edit.evaluate((one) => one === one.ownerDocument.activeElement)
    await expect.poll(isFocused).toBe(true)
    await page.keyboard.press('Enter')
    upstream.always(textReply('Changed answer.'))
    await page.keyboard.type(', changed')
    await page.keyboard.press('Enter')
    await answered(page, 'Changed answer.').waitFor()
    expect(told(upstream).map(({ content }) => content)).toEqual([
      'First question',
      'First answer.',
      expect.stringContaining('Second question, changed'),
    ])
    await page.getByText('2 / 2').waitFor()
  })

  it('stay at the version that is shown if the server refuses another one, and say so', async () => {
    const { page, upstream } = await open()
    await say(page, upstream, 'First question', 'First answer.')
    upstream.always(textReply('Another first answer.'))
    await press(page, 'Retry')
    await answered(page, 'Another first answer.').waitFor()
    const back = page.getByRole('button', { name: 'Previous version' })
    await page.route('**/v1/conversations/*', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 403, json: { error: { code: 'forbidden', message: 'Not you' } } })
        : route.continue(),
    )
    await back.click()
    await page.getByRole('alert').filter({ hasText: 'Not you' }).waitFor()
    await answered(page, 'Another first answer.').waitFor()
    await expectAccessible(page)
    await page.unroute('**/v1/conversations/*')
    await back.click()
    await page.getByText('1 / 2').waitFor()
    expect(await page.getByRole('alert').filter({ hasText: 'Not you' }).count()).toBe(0)
  })

  it('keep each of three edits in a row, which one can go back to', async () => {
    const { page, upstream } = await open()
    await say(page, upstream, 'First question', 'First answer.')
    await say(page, upstream, 'Second question', 'Second answer.')
    const questions = ['Second question', 'Edit one', 'Edit two', 'Edit three']
    for (const edited of questions.slice(1)) {
      await page.getByRole('button', { name: 'Edit question 2' }).click()
      await page.getByLabel('Question', { exact: true }).first().fill(edited)
      upstream.always(textReply(`Answer to ${edited}.`))
      await press(page, 'Ask again')
      await answered(page, `Answer to ${edited}.`).waitFor()
    }
    await page.getByText('4 / 4').waitFor()
    await page.reload()
    for (const [place, question] of [...questions.entries()].reverse()) {
      await page.getByText(`${place + 1} / 4`).waitFor()
      await asked(page, question).waitFor()
      expect(await page.locator('.turn').count()).toBe(2)
      if (place > 0) await page.getByRole('button', { name: 'Previous version' }).click()
    }
    await answered(page, 'Second answer.').waitFor()
    upstream.always(textReply('Third answer.'))
    await askOn(page, 'Third question')
    await answered(page, 'Third answer.').waitFor()
    expect(told(upstream).map(({ content }) => content)).toEqual([
      'First question',
      'First answer.',
      'Second question',
      'Second answer.',
      expect.stringContaining('Third question'),
    ])
  })

  it('keep an edited question over other pages, and when it could not be asked', async () => {
    const { page, upstream } = await open()
    await say(page, upstream, 'First question', 'First answer.')
    await page.getByRole('button', { name: 'Edit question 1' }).click()
    const field = page.getByLabel('Question', { exact: true }).first()
    await field.fill('Half an edit')
    await goTo(page, 'Documents')
    await page.getByRole('heading', { name: 'Documents', level: 1 }).waitFor()
    await goTo(page, 'Chat')
    await expect.poll(() => field.inputValue()).toBe('Half an edit')
    await page.route('**/chat', (route) => route.abort())
    await press(page, 'Ask again')
    await page.locator('form.composer').getByRole('alert').getByText(/./).waitFor()
    await expect.poll(() => field.inputValue()).toBe('Half an edit')
    await press(page, 'Cancel')
    await answered(page, 'First answer.').waitFor()
    expect(await page.getByLabel('Question', { exact: true }).count()).toBe(1)
  })

  it('say that they were deleted elsewhere, and keep what was being written', async () => {
    const { page, upstream, server } = await open()
    const deleteShown = async () => {
      const { pathname } = new URL(page.url().replace('/#', ''))
      await server.request(`/v1/conversations/${pathname.split('/').at(-1)}`, { method: 'DELETE' })
    }
    const told = page.getByRole('alert').getByText('This conversation was deleted elsewhere.')
    const field = page.getByLabel('Question', { exact: true }).last()
    await say(page, upstream, 'First question', 'First answer.')
    await deleteShown()
    await askOn(page, 'Second question')
    await told.waitFor()
    expect(await field.inputValue()).toBe('Second question')

    halting(upstream)
    await page.keyboard.press('Enter')
    await answered(page, 'The beginning,').waitFor()
    await field.fill('Third question')
    await deleteShown()
    await told.waitFor()
    expect(page.url()).toMatch(/#\/chat$/)
    await say(page, upstream, await field.inputValue(), 'Third answer.')
    await asked(page, 'Third question').waitFor()
    expect(await told.count()).toBe(0)
  })

  it('go on where they were after a reload in the middle of an answer', async () => {
    const { page, upstream } = await open()
    const rest = halting(upstream)
    await askOn(page, 'Slow question')
    await answered(page, 'The beginning,').waitFor()
    await page.reload()
    await answered(page, 'The beginning,').waitFor()
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    rest.resolve()
    await answered(page, 'The beginning, the rest.').waitFor()
    await page.getByRole('button', { name: 'Retry' }).waitFor()
    expect(upstream.requests).toHaveLength(1)
  })

  it('show in a second tab what the first one asks, and keep what both ask at once', async () => {
    const { page, upstream, context } = await open()
    await say(page, upstream, 'First question', 'First answer.')
    const other = await context.newPage()
    await other.goto(page.url())
    await answered(other, 'First answer.').waitFor()
    const rest = halting(upstream)
    await askOn(page, 'Slow question')
    await answered(other, 'The beginning,').waitFor()
    rest.resolve()
    for (const each of [page, other]) {
      await answered(each, 'The beginning, the rest.').waitFor()
      await each.getByRole('button', { name: 'Retry' }).nth(1).waitFor()
    }
    upstream.always(textReply('Fine.'))
    // The second question is sent before its tab can know of the first, and arrives after it.
    const firstAsked = Promise.withResolvers<void>()
    await other.route('**/chat', async (route) => {
      await firstAsked.promise
      await route.continue()
    })
    const sent = other.waitForRequest((request) => request.url().endsWith('/chat'))
    await askOn(other, 'From the other')
    await sent
    await askOn(page, 'From one')
    await expect.poll(() => upstream.requests.length).toBe(3)
    firstAsked.resolve()
    await expect.poll(() => upstream.requests.length).toBe(4)
    await page.reload()
    await page.getByText('/ 2').waitFor()
    const versions = [await page.locator('.turns').innerText()]
    const back = page.getByRole('button', { name: 'Previous version' })
    if (await back.isEnabled()) await back.click()
    else await page.getByRole('button', { name: 'Next version' }).click()
    await expect.poll(() => page.locator('.turns').innerText()).not.toBe(versions[0])
    versions.push(await page.locator('.turns').innerText())
    expect(versions.join()).toContain('From one')
    expect(versions.join()).toContain('From the other')
  })

  it('refuse a question that is too long before it breaks them, and give it back', async () => {
    const { page, upstream } = await open()
    await say(page, upstream, 'First question', 'First answer.')
    await askOn(page, 'x'.repeat(1_000_001))
    await page.getByRole('alert').filter({ hasText: '1,000,001 characters' }).waitFor()
    const field = page.getByLabel('Question', { exact: true }).last()
    expect((await field.inputValue()).length).toBe(1_000_001)
    await say(page, upstream, 'Second question', 'Second answer.')
    expect(told(upstream)).toHaveLength(3)
  })

  it('keep a question that failed, but do not send it again', async () => {
    const { page, upstream } = await open()
    upstream.always(errorReply(401, 'Wrong key'))
    await askOn(page, 'Failing question')
    await page.getByRole('alert').filter({ hasText: /key/ }).waitFor()
    await say(page, upstream, 'Second question', 'Second answer.')
    expect(told(upstream)).toHaveLength(1)
    await page.reload()
    await asked(page, 'Failing question').waitFor()
    await page.getByRole('alert').filter({ hasText: /key/ }).waitFor()
  })

  it('outlive New conversation and Sign out, and are found again', async () => {
    const { page, upstream } = await open()
    await say(page, upstream, 'About zebras', 'They have stripes.')
    await press(page, 'New conversation')
    await page.getByText('Ask about your documents').waitFor()
    await say(page, upstream, 'About owls', 'They hunt at night.')
    await press(page, 'Sign out')
    await page.getByLabel('Server key').fill(TEST_KEY)
    await press(page, 'Sign in')
    const list = listOf(page)
    await list.getByRole('link', { name: 'About zebras' }).waitFor()
    await list.getByRole('searchbox').fill('ZEBRA')
    await list.getByRole('link', { name: 'About owls' }).waitFor({ state: 'detached' })
    await list.getByRole('link', { name: 'About zebras' }).click()
    await answered(page, 'They have stripes.').waitFor()
  })

  it('are renamed, exported with sources, and deleted', async () => {
    const { page, upstream, server } = await open()
    await server.ingest({ title: 'Zoo', text: 'Zebras have stripes.' })
    await say(page, upstream, 'What do zebras have?', 'Stripes [1].')
    const list = listOf(page)
    const manage = (title: string) =>
      list.getByRole('button', { name: `Rename, share, export or delete ${title}` }).click()
    await manage('What do zebras have?')
    await page.getByLabel('Title').fill('Horses')
    await press(page, 'Rename')
    await list.getByRole('link', { name: 'Horses' }).waitFor()
    await manage('Horses')
    const downloading = page.waitForEvent('download')
    await press(page, 'Export')
    const download = await downloading
    expect(download.suggestedFilename()).toBe('Horses.md')
    expect(await readFile(await download.path(), 'utf8')).toBe(
      '# Horses\n\n## What do zebras have?\n\nStripes [1].\n\nSources:\n\n[1] Zoo\n',
    )
    await manage('Horses')
    await press(page, 'Delete')
    await press(page, 'Delete for good')
    await page.getByText('No conversations yet.').waitFor()
    await page.getByText('Ask about your documents').waitFor()
  })

  it('keep an unsent question over other pages, other conversations and a reload', async () => {
    const { page, upstream } = await open()
    await say(page, upstream, 'First question', 'First answer.')
    const field = page.getByLabel('Question', { exact: true }).last()
    await field.fill('Half a question')
    await goTo(page, 'Settings')
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    await goTo(page, 'Chat')
    await answered(page, 'First answer.').waitFor()
    expect(await field.inputValue()).toBe('Half a question')
    await press(page, 'New conversation')
    await expect.poll(() => field.inputValue()).toBe('')
    await field.fill('Another')
    await page.reload()
    await expect.poll(() => field.inputValue()).toBe('Another')
    await listOf(page).getByRole('link', { name: 'First question' }).click()
    await expect.poll(() => field.inputValue()).toBe('Half a question')
    await press(page, 'Sign out')
    await page.getByText('The question that you have not sent is lost.').waitFor()
    await press(page, 'Cancel')
    expect(await field.inputValue()).toBe('Half a question')
    await press(page, 'Sign out')
    await press(page, 'Sign out anyway')
    const kept = () => page.evaluate(() => JSON.stringify(sessionStorage))
    await expect.poll(kept).not.toContain('Half')
  })

  it('keep and mark what there was of an answer when the server stops, and go on', async () => {
    const upstream = await startScriptedUpstream()
    const directory = await temporaryDirectory()
    const environment = modelAt(upstream, { DATA_DIR: directory, SHUTDOWN_GRACE: '0' })
    const first = await startServer(environment)
    const { page } = await openWebUi(browser, first.url, 'chat')
    halting(upstream)
    await askOn(page, 'Slow question')
    await answered(page, 'The beginning,').waitFor()
    await first.close()
    await startServer({ ...environment, PORT: new URL(first.url).port })
    await page.getByText('Interrupted: the server stopped').waitFor()
    await answered(page, 'The beginning,').waitFor()
    await say(page, upstream, 'Second question', 'Second answer.')
    expect(told(upstream)).toHaveLength(3)
  })

  it('are within reach on a telephone, and clean to axe', async () => {
    const { page, upstream } = await open()
    await say(page, upstream, 'First question', 'First answer.')
    await press(page, 'New conversation')
    await expectAccessible(page)
    await page.setViewportSize({ width: 390, height: 800 })
    await press(page, 'Conversations')
    const dialog = page.getByRole('dialog', { name: 'Conversations' })
    await dialog.getByRole('link', { name: 'First question' }).waitFor()
    await expectAccessible(page)
    await dialog.getByRole('link', { name: 'First question' }).click()
    await dialog.waitFor({ state: 'detached' })
    await answered(page, 'First answer.').waitFor()
    const wide = await page.evaluate('document.documentElement.scrollWidth')
    expect(wide).toBeLessThanOrEqual(390)
  })
})
