import { expect, it } from 'vitest'
import { expectAccessible, hasBrowser, openWebUi, useBrowser } from '../support/browser.ts'
import { speakingFor } from '../support/people.ts'
import { startServer } from '../support/server.ts'

const browser = useBrowser()

it.skipIf(!hasBrowser)(
  'Activity shows the audit log page by page, filtered and exported, and a row for each answer (needs Chromium)',
  async () => {
    const server = await startServer()
    const ada = speakingFor(server, { name: 'ada' })
    for (let n = 0; n < 60; n += 1) {
      await ada(`/documents/owl-${n}`, { method: 'PUT', body: { text: `Owl ${n}.` } })
    }
    const created = await ada('/documents', { body: { title: 'Owls', text: 'Owls hunt.' } })
    const { id } = (await created.json()) as { id: string }
    await ada(`/documents/${id}`, { method: 'PATCH', body: { metadata: { year: 1 } } })
    const { page, complaints } = await openWebUi(browser, server.url, 'activity')
    await page.getByRole('radio', { name: 'Audit log' }).check()
    const entries = page.locator('.audit li')
    await expect.poll(() => entries.count()).toBe(50)
    await expectAccessible(page, 'audit')
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => entries.count()).toBeGreaterThan(60)

    await page.getByLabel('Target').fill(id)
    await page.keyboard.press('Enter')
    await expect.poll(() => entries.count()).toBe(2)
    const newest = await entries.first().innerText()
    expect(newest).toMatch(/Patch document by ada/)
    expect(newest).toContain('fields: metadata')
    await page.getByLabel('Who').fill('user:ada')
    await page.getByLabel('Action').fill('createDocument')
    await page.getByLabel('From').fill('2026-01-01T00:00')
    await page.getByRole('button', { name: 'Filter' }).click()
    await expect.poll(() => entries.count()).toBe(1)
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export' }).click()
    const text = Buffer.concat(await Array.fromAsync(await (await download).createReadStream()))
    const lines = text.toString().trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).action)).toEqual(['createDocument'])

    await entries.getByRole('link', { name: id }).click()
    await page.getByRole('heading', { name: 'Owls' }).waitFor()

    await server.request('/chat', {
      body: { messages: [{ role: 'user', content: 'When do owls hunt?' }] },
    })
    await page.goto(`${server.url}/#/activity`)
    await page.getByRole('radio', { name: 'Answers' }).check()
    const run = page.locator('.runs li')
    await expect.poll(() => run.innerText()).toMatch(/Complete.*When do owls hunt\?.*\d m?s/s)
    await expectAccessible(page, 'runs')
    await run.getByRole('link', { name: 'When do owls hunt?' }).click()
    await page.getByRole('heading', { name: 'Run', exact: true }).waitFor()
    expect(complaints).toEqual([])
  },
)
