import { beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openWebUi, useBrowser } from '../support/browser.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { startSite } from '../support/site.ts'

const browser = useBrowser()
let server: TestServer

describe.skipIf(!hasBrowser)('Adding from the web in the web UI (needs Chromium)', () => {
  beforeAll(async () => {
    server = await startServer({ OUTBOUND_ALLOW: '127.0.0.1' })
    return async () => {
      await server.close()
    }
  })

  it('says why an address gives nothing, and lists the page of one that does', async () => {
    const site = await startSite()
    site.serve('/owls', {
      body: '<html><title>Owls</title><body><p>Owls hoot at night.</p></body></html>',
    })
    const { page, complaints } = await openWebUi(browser, server.url, 'documents', {
      viewport: { width: 360, height: 740 },
    })
    await page.getByRole('button', { name: 'Add from the web' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('URL of a page or file').fill(`${site.url}/lost`)
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await dialog.getByText('answered 404').waitFor()
    await dialog.getByLabel('URL of a page or file').fill(`${site.url}/owls`)
    await dialog.getByLabel('Fetch again').selectOption('1d')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('link', { name: 'Owls' }).click()
    await page.getByText('answered 200; next').waitFor()
    site.serve('/owls', { status: 410 })
    await page.getByRole('button', { name: 'Fetch again' }).click()
    await page.getByRole('definition').filter({ hasText: 'answered 410' }).waitFor()
    expect(complaints.filter((complaint) => !complaint.includes('502'))).toEqual([])
  })
})
