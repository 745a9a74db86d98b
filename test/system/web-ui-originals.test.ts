import { readFile } from 'node:fs/promises'
import { DocumentCreated } from '@agent-server/schemas/document.ts'
import { QueryResponse } from '@agent-server/schemas/query.ts'
import { PDFDocument, PDFName, PDFString } from '@cantoo/pdf-lib'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { expectAccessible, hasBrowser, press, useBrowser } from '../support/browser.ts'
import { type Answered, isInView, openAnswer, QUESTION } from '../support/cited-answer.ts'
import { type FileToSend, fixture, sendFile } from '../support/forms.ts'
import { pdfFile } from '../support/pdf-file.ts'

const browser = useBrowser()

const FILLER = 'Every reading room has a shelf of maps and a table to unfold them on.'
const PAGES = [
  ...Array.from({ length: 5 }, (_, n) => `Room ${n} is described on this page.\n${FILLER}`),
  'The library opens at nine on weekdays. On Satur-\ndays the department of maps opens at ten. It is\nclosed on Sundays.',
  `The annex has no rooms.\n${FILLER}`,
]
const PDF: FileToSend = {
  name: 'rooms.pdf',
  bytes: pdfFile({ pages: PAGES }),
  type: 'application/pdf',
}
const ABOUT_MAPS = 'On Saturdays the department of maps opens at ten [1].'

const sheet = (page: Page, number: number) =>
  page.getByRole('region', { name: `Page ${number}`, exact: true })

interface Canvas {
  width: number
  height: number
  getContext(kind: '2d'): {
    getImageData(x: number, y: number, width: number, height: number): { data: Uint8ClampedArray }
  }
}

/** Whether anything dark is drawn on the page. */
const isDrawn = (page: Page, number: number) =>
  sheet(page, number)
    .locator('canvas')
    .evaluate((canvas: Canvas) => {
      const { width, height } = canvas
      const { data } = canvas.getContext('2d').getImageData(0, 0, width, height)
      return data.some((value, place) => place % 4 === 0 && value < 128)
    })

/** The reader as it is at the citation of a PDF. */
async function openPdf(options: Answered = {}) {
  const opened = await openAnswer(browser, ABOUT_MAPS, { file: PDF, ...options })
  await opened.page.getByRole('button', { name: 'Source 1' }).click()
  return opened
}

describe.skipIf(!hasBrowser)('The original in the reader (needs Chromium)', () => {
  it('is the cited page of a PDF with the sentence marked over the ends of lines', async () => {
    const { page, complaints } = await openPdf()
    await sheet(page, 6).locator('canvas').waitFor()
    await page.getByText('Page 6 of 7').waitFor()
    expect(await isDrawn(page, 6)).toBe(true)
    const marks = page.locator('.reader mark')
    expect(await marks.allTextContents()).toEqual([
      'On Satur-',
      'days the department of maps opens at ten.',
    ])
    const line = await marks.first().boundingBox()
    const whole = await sheet(page, 6).locator('canvas').boundingBox()
    if (!line || !whole) throw new Error('Nothing is shown')
    // Its line is at 700 of 842 points from below, behind half of the 545 points from its left end.
    expect((line.y - whole.y) / whole.height).toBeCloseTo(1 - 709 / 842, 1)
    expect((line.x - whole.x) / whole.width).toBeGreaterThan(0.35)
    await expectAccessible(page)
    expect(complaints).toEqual([])
  })

  it('is cited with the pages of its sentences: on the card, in a copy and in an export', async () => {
    const answer = `${ABOUT_MAPS} The annex has no rooms [1]. On Saturdays maps open at ten [1].`
    const { page, context } = await openAnswer(browser, answer, { file: PDF })
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const marks = page.getByRole('button', { name: 'Source 1' })
    await page.getByText(/tokens/).waitFor()
    const card = page.getByRole('tooltip')
    await marks.first().focus()
    expect(await card.innerText()).toMatch(/^rooms\.pdf page 6\n/)
    await marks.nth(1).focus()
    await expect.poll(() => card.innerText()).toMatch(/^rooms\.pdf page 7\n/)
    await press(page, 'Copy answer')
    const sources = `${answer}\n\nSources:\n\n[1] rooms.pdf, pages 6, 7`
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()')
    await expect.poll(copied).toBe(sources)
    await page.getByRole('button', { name: `Rename, share, export or delete ${QUESTION}` }).click()
    const downloading = page.waitForEvent('download')
    await press(page, 'Export')
    const exported = await readFile(await (await downloading).path(), 'utf8')
    expect(exported).toBe(`# ${QUESTION}\n\n## ${QUESTION}\n\n${sources}\n`)
  })

  it('is turned and made larger by keyboard, and its text is one key away', async () => {
    const { page } = await openPdf()
    const canvas = (number: number) => sheet(page, number).locator('canvas')
    const width = async () => (await canvas(7).boundingBox())?.width ?? 0
    await canvas(6).waitFor()
    await page.getByRole('button', { name: 'Next page' }).press('Enter')
    await canvas(7).waitFor()
    await page.getByText('Page 7 of 7').waitFor()
    expect(await page.getByRole('button', { name: 'Next page' }).isDisabled()).toBe(true)
    expect(await page.locator('.reader mark').count()).toBe(0)
    const before = await width()
    await page.getByRole('button', { name: 'Zoom in' }).press('Enter')
    await expect.poll(width).toBeGreaterThan(before * 1.2)
    await page.getByRole('button', { name: 'Previous page' }).press('Enter')
    await page.locator('.reader mark').first().waitFor()

    await page.getByRole('radio', { name: 'Page' }).press('ArrowRight')
    const text = page.locator('.document-text mark')
    await text.first().waitFor()
    expect((await text.allInnerTexts()).join()).toContain('On Saturdays the department of maps')
    expect(await page.locator('.reader canvas').count()).toBe(0)
    await page.keyboard.press('ArrowLeft')
    await canvas(6).waitFor()
  })

  it('is at the address of the document, too, and is loaded when it is first opened', async () => {
    const { page, server, id, complaints } = await openAnswer(browser, ABOUT_MAPS, { file: PDF })
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    const source = page.getByRole('button', { name: 'Source 1' })
    await source.waitFor()
    await page.reload()
    await source.waitFor()
    const assets = asked.filter((path) => path.startsWith('/ui/assets/'))
    expect(assets.length).toBeGreaterThan(0)
    expect(assets.filter((path) => /\/(?:pdf|typeset|code-colours)/.test(path))).toEqual([])

    const { hits } = QueryResponse.parse(
      await (await server.request('/query', { body: { query: 'department of maps' } })).json(),
    )
    const hit = hits.find(({ text }) => text.includes('department'))
    await page.goto(`${server.url}/#/documents/${id}?at=${hit?.start}-${hit?.end}`)
    await page
      .getByRole('region', { name: /^Page \d$/ })
      .locator('canvas')
      .waitFor()
    // All of the passage is marked, and its beginning is seen.
    await expect.poll(() => isInView(page, 'mark')).toBe(true)
    expect(asked.some((path) => /\/pdf-\w+\.js$/.test(path))).toBe(true)
    expect(complaints).toEqual([])
  })

  it('runs no script of a hostile PDF and follows none of its links', async () => {
    const hostile = await PDFDocument.load(pdfFile({ pages: PAGES }))
    hostile.addJavaScript('open', 'app.alert(1); app.launchURL("https://elsewhere.example/")')
    for (const page of hostile.getPages()) {
      const URI = PDFString.of('https://elsewhere.example/')
      const link = { Type: 'Annot', Subtype: 'Link', Rect: [0, 0, 595, 842], A: { S: 'URI', URI } }
      page.node.set(PDFName.of('Annots'), hostile.context.obj([link]))
    }
    const bytes = Uint8Array.from(await hostile.save())
    const { page, context, complaints } = await openPdf({ file: { ...PDF, bytes } })
    await sheet(page, 6).locator('canvas').waitFor()
    await sheet(page, 6).click()
    await page.locator('.reader mark').first().waitFor()
    expect(
      await page
        .locator('.original a, .original iframe, .original input:not([type=radio])')
        .count(),
    ).toBe(0)
    // Whoever took over the parser could ask this server for nothing.
    const [worker] = page.workers()
    const asked = await worker?.evaluate(() => fetch('/ui/api/documents').then(String, String))
    expect(asked).toMatch(/TypeError/)
    expect(context.pages()).toHaveLength(1)
    expect(complaints.filter((one) => !one.includes('Content Security Policy'))).toEqual([])
  })

  it.each([
    [
      'is gone',
      { status: 404, json: { error: { code: 'document_not_found', message: 'Gone' } } },
      'no longer exists',
    ],
    ['is damaged', { body: '%PDF-1.7 and no more' }, 'cannot be shown'],
  ])('gives way to its text, with a word about it, when it %s', async (_case, answer, words) => {
    const { page } = await openAnswer(browser, ABOUT_MAPS, { file: PDF })
    await page.route('**/documents/*/file', (route) => route.fulfill(answer))
    await page.getByRole('button', { name: 'Source 1' }).click()
    await page.getByText(`${words}`).waitFor()
    await page.locator('.document-text mark').first().waitFor()
    expect(await page.getByRole('radio', { name: 'Text' }).isChecked()).toBe(true)
    await page.unroute('**/documents/*/file')
    await page.getByRole('radio', { name: 'Page' }).check()
    await sheet(page, 6).locator('canvas').waitFor()
  })

  it('is not even asked for when it is larger than 100 MB', async () => {
    const { page, id } = await openAnswer(browser, ABOUT_MAPS, { file: PDF })
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.route(`**/documents/${id}`, async (route) => {
      const response = await route.fetch()
      const { file, ...document } = await response.json()
      await route.fulfill({ json: { ...document, file: { ...file, size: 100_000_001 } } })
    })
    await page.getByRole('button', { name: 'Source 1' }).click()
    await page.getByText('larger than 100 MB').waitFor()
    await page.locator('.document-text mark').first().waitFor()
    expect(asked.filter((url) => url.endsWith('/file'))).toEqual([])
  })

  it('is a picture where the document is one, and a scan without marks', async () => {
    const { page, server, complaints } = await openAnswer(
      browser,
      'Herons stand in shallow water [1].',
      {
        question: 'Where do herons stand?',
        file: { name: 'heron.webp', bytes: fixture('heron.webp'), type: 'image/webp' },
      },
    )
    await page.getByRole('button', { name: 'Source 1' }).click()
    const picture = page.getByRole('img', { name: 'heron.webp' })
    const width = async () => (await picture.boundingBox())?.width ?? 0
    await expect.poll(width).toBeGreaterThan(100)
    const before = await width()
    await page.getByRole('button', { name: 'Zoom in' }).click()
    await expect.poll(width).toBeGreaterThan(before * 1.2)
    await expectAccessible(page)
    await page.getByRole('radio', { name: 'Text' }).check()
    await page.locator('.document-text mark').first().waitFor()

    const sent = await sendFile(server, { name: 'scans.pdf', bytes: fixture('heron-scans.pdf') })
    const { id } = DocumentCreated.parse(await sent.json())
    await page.goto(`${server.url}/#/documents/${id}?at=0-20`)
    await page.getByRole('radio', { name: 'Page' }).check()
    // Each in another encoding, of which two have decoders of their own.
    for (const number of [1, 2, 3, 4]) {
      await sheet(page, number).locator('canvas').waitFor()
      expect(await isDrawn(page, number), `page ${number}`).toBe(true)
      if (number < 4) await page.getByRole('button', { name: 'Next page' }).click()
    }
    expect(complaints).toEqual([])
  })

  it('fits on a telephone, in the dark', async () => {
    const viewport = { width: 390, height: 740 }
    const { page } = await openPdf({ viewport, colorScheme: 'dark', deviceScaleFactor: 3 })
    await page.locator('.reader mark').first().waitFor()
    const box = await sheet(page, 6).locator('canvas').boundingBox()
    expect(box && box.x >= 0 && box.x + box.width <= viewport.width).toBe(true)
    await expectAccessible(page)
  })
})
