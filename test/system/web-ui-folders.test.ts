import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { expectAccessible, hasBrowser, openWebUi, useBrowser } from '../support/browser.ts'
import { startServer } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const browser = useBrowser()

describe.skipIf(!hasBrowser)('Watched folders (needs Chromium)', () => {
  it('are on the overview, with what they hold and what is wrong', async () => {
    const base = await temporaryDirectory()
    await mkdir(join(base, 'inbox'))
    await writeFile(join(base, 'inbox', 'owls.md'), 'Owls hoot at night.')
    await writeFile(join(base, 'inbox', 'program.exe'), 'MZ a program')
    const server = await startServer({ WATCH_FOLDERS: `${base}/inbox, ${base}/missing` })
    const { page, complaints } = await openWebUi(browser, server.url)
    const attention = page.getByRole('region', { name: 'Needs attention' })
    const missing = attention.getByRole('listitem').filter({ hasText: `${base}/missing` })
    await missing.getByText('Not watched').waitFor()
    await missing.getByText('does not exist.').waitFor()
    const works = page.getByRole('region', { name: 'What works' })
    const inbox = works.getByRole('listitem').filter({ hasText: `${base}/inbox` })
    await inbox.getByText(/Not added: program\.exe \(cannot be read: it is a/).waitFor()
    expect(await inbox.innerText()).toMatch(/Watched[\s\S]*2 files/)
    await expectAccessible(page)
    expect(complaints).toEqual([])
  })
})
