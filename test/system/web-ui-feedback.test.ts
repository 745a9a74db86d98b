import { FeedbackList } from '@agent-server/schemas/feedback.ts'
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
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { textReply } from '../support/upstream-replies.ts'

const browser = useBrowser()

/** The page of the chat with an answer that cites the note about owls, not that about larks. */
async function openAnswered() {
  const upstream = await startScriptedUpstream()
  const server = await startServer(modelAt(upstream))
  await server.ingest({ title: 'Owls', text: 'Owls hunt at night.' })
  await server.ingest({ title: 'Larks', text: 'Larks hunt by day.' })
  upstream.always(textReply('Owls hunt at night [1].'))
  const { page, complaints } = await openWebUi(browser, server.url, 'chat')
  await askOn(page, 'When do owls hunt?')
  const rated = async () => {
    const list = await server.request('/feedback')
    return FeedbackList.parse(await list.json()).feedback
  }
  const thumb = (name: string) => page.getByRole('button', { name: `${name} answer to question 1` })
  await thumb('Good').waitFor()
  return { page, complaints, rated, thumb }
}

describe.skipIf(!hasBrowser)('Feedback in the chat (needs Chromium)', () => {
  it('rates an answer with a comment, keeps that over a reload, and takes it back', async () => {
    const { page, complaints, rated, thumb } = await openAnswered()
    await thumb('Good').click()
    await expect.poll(() => thumb('Good').getAttribute('aria-pressed')).toBe('true')
    await thumb('Bad').click()
    await expect.poll(() => thumb('Bad').getAttribute('aria-pressed')).toBe('true')
    expect(await thumb('Good').getAttribute('aria-pressed')).toBe('false')
    await press(page, 'Add a comment')
    await page.getByLabel('Comment on the answer').fill('Not in June.')
    await expectAccessible(page)
    await press(page, 'Save comment')
    await page.getByText('Not in June.').waitFor()
    await expectAccessible(page)
    await page.emulateMedia({ colorScheme: 'dark' })
    await expectAccessible(page)
    expect(await rated()).toMatchObject([
      { question: 'When do owls hunt?', rating: 'down', comment: 'Not in June.' },
    ])
    await page.reload()
    await page.getByText('Not in June.').waitFor()
    await thumb('Bad').click()
    await expect.poll(() => thumb('Bad').getAttribute('aria-pressed')).toBe('false')
    await page.getByText('Not in June.').waitFor({ state: 'detached' })
    expect(await rated()).toEqual([])
    expect(complaints).toEqual([])
  })

  it('makes a judged question of an answer, with the documents that it cites', async () => {
    const { page, complaints, thumb } = await openAnswered()
    await page.locator('summary', { hasText: 'More' }).click()
    const judge = page.getByRole('button', { name: 'Use as judged question' })
    await judge.waitFor()
    await page.locator('summary', { hasText: 'More' }).click()
    await judge.waitFor({ state: 'hidden' })
    await thumb('Good').click()
    await judge.click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByLabel('Owls').isChecked()).toBe(true)
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('link', { name: 'Judged question' }).click()
    const judged = page.getByRole('region', { name: 'Judged questions' })
    await judged.getByRole('listitem').filter({ hasText: 'When do owls hunt?' }).waitFor()
    await judged.getByText('1 document', { exact: true }).waitFor()
    await goTo(page, 'Search')
    await page.getByRole('searchbox', { name: 'Question' }).fill('When do owls hunt?')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    const right = page
      .locator('.hit', { hasText: 'Owls hunt at night.' })
      .getByRole('button', { name: 'Right document' })
    await expect.poll(() => right.getAttribute('aria-pressed')).toBe('true')
    expect(complaints).toEqual([])
  })

  it('is read on a page of its own, with its question, answer and run, and becomes a judged question', async () => {
    const { page, complaints, thumb } = await openAnswered()
    await thumb('Bad').click()
    await press(page, 'Add a comment')
    await page.getByLabel('Comment on the answer').fill('Not in June.')
    await press(page, 'Save comment')
    await goTo(page, 'Feedback')
    const entry = page.getByRole('listitem').filter({ hasText: 'When do owls hunt?' })
    await entry.getByText('Not in June.').waitFor()
    await entry.getByText('Answer', { exact: true }).click()
    await entry.getByText('Owls hunt at night').waitFor()
    await expectAccessible(page)
    await entry.getByRole('button', { name: 'Use as judged question' }).click()
    const dialog = page.getByRole('dialog')
    // What a bad answer cites is not right of itself.
    expect(await dialog.getByLabel('Owls').isChecked()).toBe(false)
    await dialog.getByLabel('Owls').check()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await entry.getByRole('link', { name: 'Judged question' }).waitFor()
    await page.getByLabel('Good', { exact: true }).check()
    await page.getByText('No answer was rated good').waitFor()
    await page.getByLabel('Bad', { exact: true }).check()
    await entry.getByRole('link', { name: 'Show run' }).click()
    await page.getByRole('heading', { name: /model call/ }).waitFor()
    expect(complaints).toEqual([])
  })
})
