import { DocumentList } from '@agent-server/schemas/document.ts'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import {
  askOn,
  expectAccessible,
  hasBrowser,
  openWebUi,
  press,
  useBrowser,
} from '../support/browser.ts'
import { modelRequest } from '../support/model-request.ts'
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'
import { textReply } from '../support/upstream-replies.ts'

const browser = useBrowser()

const chip = (page: Page, name: string) => page.locator('.chip', { hasText: name })
const kept = (page: Page, name: string) =>
  page.getByRole('button', { name: `Keep in documents ${name}` })
const clip = (page: Page) => page.locator('input[type=file][aria-label="Add files"]')
const textFile = (name: string, text: string) => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.from(text),
})
const told = ({ requests }: ScriptedUpstream) =>
  modelRequest(requests.at(-1))
    .messages.map(({ content }) => content)
    .join('\n')

/** What the browser does with files that are dropped or pasted on an element. */
const bring = (page: Page, event: 'drop' | 'paste', files: Record<string, string>) =>
  page.evaluate<void>(`(() => {
    const data = new DataTransfer()
    for (const [name, text] of Object.entries(${JSON.stringify(files)})) {
      data.items.add(new File([text], name, { type: 'text/plain' }))
    }
    const at = document.querySelector('textarea[aria-label="Question"]')
    const kinds = { bubbles: true, cancelable: true }
    at.dispatchEvent('${event}' === 'drop'
      ? new DragEvent('drop', { ...kinds, dataTransfer: data })
      : new ClipboardEvent('paste', { ...kinds, clipboardData: data }))
  })()`)

async function documentsOf(server: TestServer, query = '') {
  return DocumentList.parse(await (await server.request(`/documents${query}`)).json()).documents
}

async function open(options: object = {}) {
  const upstream = await startScriptedUpstream()
  upstream.always(textReply('On the third chimney [1].'))
  const server = await startServer({ ...modelAt(upstream) })
  return { upstream, server, ...(await openWebUi(browser, server.url, 'chat', options)) }
}

describe.skipIf(!hasBrowser)('Files in chat (need Chromium)', () => {
  it('are dropped, pasted and chosen, and answer the questions of this conversation only', async () => {
    const { page, server, upstream, complaints } = await open()
    await page.getByLabel('Question', { exact: true }).fill('Where does')
    await bring(page, 'drop', { 'heron.txt': 'The heron nests on the third chimney.' })
    await kept(page, 'heron.txt').waitFor()
    expect(await page.getByLabel('Question', { exact: true }).inputValue()).toBe('Where does')
    await bring(page, 'paste', { 'tern.txt': 'Terns nest on the beach.' })
    await kept(page, 'tern.txt').waitFor()
    await clip(page).setInputFiles(textFile('gull.txt', 'Gulls nest on the roof.'))
    await kept(page, 'gull.txt').waitFor()
    await expectAccessible(page)

    await askOn(page, 'Where does the heron nest?')
    await page.locator('.answer', { hasText: 'On the third chimney' }).waitFor()
    expect(told(upstream)).toContain('The heron nests on the third chimney.')
    await page.getByText(/^\d sources? cited$/).click()
    await page.locator('.sources').getByRole('button', { name: 'heron.txt' }).waitFor()
    expect(await documentsOf(server)).toEqual([])

    await press(page, 'New conversation')
    await expect.poll(() => page.locator('.chip').count()).toBe(0)
    expect(complaints).toEqual([])
  })

  it('stay after a reload, are shown in a second tab, and go with their conversation', async () => {
    const { page, server, context } = await open()
    await clip(page).setInputFiles(textFile('heron.txt', 'Herons fish.'))
    await kept(page, 'heron.txt').waitFor()
    const id = page.url().split('/').at(-1)
    await page.reload()
    await kept(page, 'heron.txt').waitFor()
    const other = await context.newPage()
    await other.goto(page.url())
    await kept(other, 'heron.txt').waitFor()
    await press(other, 'Remove heron.txt')
    await expect.poll(() => chip(page, 'heron.txt').count()).toBe(0)
    await bring(other, 'drop', { 'tern.txt': 'Terns fish.' })
    await kept(page, 'tern.txt').waitFor()
    const [document] = await documentsOf(server, `?conversation=${id}`)
    await page
      .getByRole('button', { name: 'Rename, share, export or delete heron.txt' })
      .first()
      .click()
    await press(page, 'Delete')
    await page.getByText('with all its versions and files').waitFor()
    await press(page, 'Delete for good')
    const status = async () => (await server.request(`/documents/${document?.id}`)).status
    await expect.poll(status).toBe(404)
  })

  it('are kept in the documents on request', async () => {
    const { page, server } = await open()
    await clip(page).setInputFiles(textFile('heron.txt', 'Herons fish.'))
    await kept(page, 'heron.txt').click()
    await page.getByText('heron.txt is now in the documents.').waitFor()
    expect(await chip(page, 'heron.txt').count()).toBe(0)
    expect(await documentsOf(server)).toMatchObject([{ file: { name: 'heron.txt' } }])
  })

  it('show how much was sent, can be cancelled, and hold the question back until they are read', async () => {
    const { page, server, upstream } = await open()
    const { promise: isOver, resolve: goOn } = Promise.withResolvers<void>()
    await page.route('**/documents', async (route) => {
      if (route.request().method() === 'POST') await isOver
      if (!route.request().failure()) await route.continue().catch(() => undefined)
    })
    await clip(page).setInputFiles(textFile('heron.txt', 'Herons fish.'))
    await page.getByRole('progressbar', { name: 'Sent of heron.txt' }).waitFor()
    await askOn(page, 'What do herons do?')
    await page.getByText('as soon as the files have been read').waitFor()
    expect(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true)
    await clip(page).setInputFiles(textFile('tern.txt', 'Terns fish.'))
    await page.getByRole('progressbar', { name: 'Sent of tern.txt' }).waitFor()
    const cancelled = page.waitForEvent('requestfailed')
    await press(page, 'Remove tern.txt')
    await cancelled
    goOn()
    await kept(page, 'heron.txt').waitFor()
    expect(await chip(page, 'tern.txt').count()).toBe(0)
    expect(upstream.requests).toEqual([])
    await press(page, 'Send')
    await page.locator('.answer', { hasText: 'On the third chimney' }).waitFor()
    expect(told(upstream)).toContain('Herons fish.')
    expect(await documentsOf(server)).toEqual([])
  })

  it('say why they failed, can be sent again or removed, and are no more than twenty', async () => {
    const { page } = await open()
    await clip(page).setInputFiles({ ...textFile('sound.wav', ''), buffer: Buffer.alloc(100) })
    await page.locator('.chip.failed', { hasText: 'sound.wav' }).waitFor()
    await press(page, 'Remove sound.wav')
    await expect.poll(() => chip(page, 'sound.wav').count()).toBe(0)

    const refused = { error: { code: 'body_too_large', message: 'file: is larger than 1 byte' } }
    await page.route(
      '**/documents',
      (route) => route.fulfill({ status: 413, body: JSON.stringify(refused) }),
      { times: 1 },
    )
    await clip(page).setInputFiles(textFile('heron.txt', 'Herons fish.'))
    await page.locator('.chip.failed', { hasText: 'The file is larger than 1 byte.' }).waitFor()
    await expectAccessible(page)
    await press(page, 'Send again heron.txt')
    await kept(page, 'heron.txt').waitFor()

    const many = Array.from({ length: 30 }, (_, n) => textFile(`note-${n}.txt`, `Note ${n}`))
    await clip(page).setInputFiles(many)
    await page.getByText('11 files not added: a conversation takes at most 20.').waitFor()
    await expect.poll(() => page.locator('.chip').count()).toBe(20)
  })

  it('leave what office programs copy as text, and fit 390 pixels in the dark', async () => {
    const viewport = { width: 390, height: 844 }
    const { page } = await open({ viewport, colorScheme: 'dark' })
    const prevented = await page.evaluate<boolean>(`(() => {
      const data = new DataTransfer()
      data.setData('text/plain', 'A1\\tB1')
      data.items.add(new File(['x'], 'image.png', { type: 'image/png' }))
      const event = new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData: data })
      document.querySelector('textarea[aria-label="Question"]').dispatchEvent(event)
      return event.defaultPrevented
    })()`)
    expect(prevented).toBe(false)
    const name = `${'a-very-long-name-'.repeat(8)}.txt`
    await clip(page).setInputFiles([
      textFile(name, 'Herons fish.'),
      textFile('<img src=x>.txt', 'x'),
    ])
    await kept(page, name).waitFor()
    await kept(page, '<img src=x>.txt').waitFor()
    await expectAccessible(page)
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    expect(width).toBeLessThanOrEqual(390)
  })
})
