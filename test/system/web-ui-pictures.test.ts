import { Document, DocumentCreated } from '@agent-server/schemas/document.ts'
import { describe, expect, it } from 'vitest'
import { askOn, expectAccessible, hasBrowser, openWebUi, useBrowser } from '../support/browser.ts'
import { sendFile } from '../support/forms.ts'
import { scan } from '../support/scan.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { textReply } from '../support/upstream-replies.ts'

const browser = useBrowser()
const SEEN = 'A bar chart of owls: 12 in 2024, 30 in 2025.'
const TOLD = '[Picture 1: a model’s description, not text of the document]'
const PLACE = 'a model’s description of a picture'

describe.skipIf(!hasBrowser)('A description of a picture (needs Chromium)', () => {
  it('is told from text in the reader, which shows the picture, and on the page of its document', async () => {
    const upstream = await startScriptedUpstream()
    upstream.always(textReply(SEEN))
    const server = await startServer(
      modelAt(upstream, { PICTURE_DESCRIPTIONS: 'chat', OCR: 'off' }),
    )
    const bytes = Buffer.from(scan(['Owls'], { height: 400 }).asPng())
    const { id } = DocumentCreated.parse(
      await (await sendFile(server, { name: 'owls.png', bytes })).json(),
    )
    const read = async () =>
      Document.parse(await (await server.request(`/documents/${id}`)).json()).pictures
    await expect.poll(read, { timeout: 20_000 }).toMatchObject({ described: 1 })

    upstream.always(textReply('There were 30 owls in 2025 [1].'))
    const { page, complaints } = await openWebUi(browser, server.url, 'chat')
    await askOn(page, 'How many owls in the bar chart?')
    await page.getByRole('button', { name: 'Source 1' }).click()
    const reader = page.getByRole('complementary')
    await reader.getByText(SEEN).waitFor()
    expect(await reader.textContent()).toContain(TOLD)
    expect(await reader.textContent()).toContain(PLACE)
    await reader.getByRole('img', { name: 'owls.png' }).waitFor()
    expect(await reader.textContent()).not.toContain('has changed since')
    await expectAccessible(page)
    const folder = process.env.TEST_PICTURES
    if (folder) await page.screenshot({ path: `${folder}/reader.png` })

    await reader.getByRole('link', { name: 'Open document' }).click()
    await page.getByText('1 described').waitFor()
    await page.getByRole('heading', { name: 'Passages' }).click()
    await page.locator('.chunks').getByText(SEEN).waitFor()
    expect(await page.locator('.chunks').textContent()).toContain(PLACE)
    if (folder) await page.screenshot({ path: `${folder}/document.png`, fullPage: true })
    expect(complaints).toEqual([])
  })
})
