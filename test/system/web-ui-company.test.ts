import { describe, expect, it } from 'vitest'
import {
  askOn,
  expectAccessible,
  goTo,
  hasBrowser,
  openPage,
  signInAs,
  useBrowser,
} from '../support/browser.ts'
import { startOidcIssuer } from '../support/oidc-issuer.ts'
import { scan } from '../support/scan.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, TEST_KEY } from '../support/server.ts'

const browser = useBrowser()

async function begin(more: Parameters<typeof startServer>[0] = {}) {
  const issuer = await startOidcIssuer()
  issuer.accounts.set('ada', { name: 'Ada Lovelace', groups: ['staff'] })
  issuer.accounts.set('root', { name: 'Root', groups: ['admins'] })
  const server = await startServer({ ...issuer.settings, ...more })
  issuer.allow(server.url)
  const { page, context, complaints } = await openPage(browser, server.url)
  return { issuer, server, page, context, complaints }
}

type Page = Awaited<ReturnType<typeof begin>>['page']

const linksOf = (page: Page) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allInnerTexts()

describe.skipIf(!hasBrowser)('Somebody with an account of the company (needs Chromium)', () => {
  it('signs in where they wanted to go, sees what they may use, and signs out everywhere', async () => {
    const { server, page, issuer } = await begin()
    await page.goto(`${server.url}/#/documents`)
    await page.getByText('Your company’s account').waitFor()
    await expectAccessible(page)
    await signInAs(page, 'ada')
    await page.getByRole('heading', { name: 'Documents', exact: true }).waitFor()
    const pages = ['Chat', 'Documents', 'Collections', 'Search', 'Feedback', 'Accounts', 'Usage']
    expect(await linksOf(page)).toEqual(pages)
    await page.getByText('Ada Lovelace').waitFor()
    await page.goto(`${server.url}/#/keys`)
    await page.getByRole('heading', { name: 'Not found' }).waitFor()
    await page.reload()
    await page.getByText('Ada Lovelace').waitFor()
    const [session] = (await page.context().cookies(`${server.url}/ui`)).filter(({ value }) =>
      value.startsWith('person.'),
    )
    expect(session).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/ui' })

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(`${issuer.url}/session/end**`)
    await page.getByRole('button', { name: 'Yes, sign me out' }).click()
    await page.getByText('Your company’s account').waitFor()
    await page.getByRole('link', { name: 'Sign in with your account' }).click()
    // The issuer, too, no longer knows them.
    await page.locator('input[name=login]').waitFor()
  })

  it('is offered and asks for nothing that only administrators may', async () => {
    const { server, page, complaints } = await begin()
    await server.ingest({ title: 'Owls', text: 'Owls hunt at night.', access: ['public'] })
    await page.goto(`${server.url}/#/chat`)
    await signInAs(page, 'ada')
    await page.getByRole('heading', { name: 'Chat', exact: true }).waitFor()
    // The issuer is another host.
    complaints.length = 0

    await askOn(page, 'When do owls hunt?')
    await page.getByText('1 source cited').waitFor()
    await page.getByRole('button', { name: 'Good answer to question 1' }).click()
    await page.getByRole('button', { name: 'Add a comment' }).waitFor()
    expect(await page.getByRole('link', { name: 'Show run' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Use as judged question' }).count()).toBe(0)

    await goTo(page, 'Search')
    await page.getByLabel('Question', { exact: true }).fill('owls hunt')
    await page.keyboard.press('Enter')
    await page.getByText(/^1 found in/).waitFor()
    expect(await page.getByRole('button', { name: 'Right document' }).count()).toBe(0)

    await goTo(page, 'Documents')
    await page.getByRole('link', { name: 'Owls' }).click()
    await page.getByRole('heading', { name: 'Owls' }).waitFor()
    for (const name of ['Edit', 'Delete', 'Access', 'Replace file']) {
      expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0)
    }
    await goTo(page, 'Collections')
    await page.getByText('1 document').waitFor()
    expect(await page.getByRole('link', { name: 'key' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Delete default' }).count()).toBe(0)
    await goTo(page, 'Feedback')
    await page.getByText('Your own ratings of answers').waitFor()
    await page.getByRole('heading', { name: 'When do owls hunt?' }).waitFor()
    expect(await page.getByRole('link', { name: 'Show run' }).count()).toBe(0)
    await page.waitForLoadState('networkidle')
    expect(complaints).toEqual([])
  })

  it('shows pictures to a model that sees', async () => {
    const { server, page } = await begin(modelAt(await startScriptedUpstream()))
    await page.goto(`${server.url}/#/chat`)
    await signInAs(page, 'ada')
    const buffer = Buffer.from(scan(['Owls'], { height: 200 }).asPng())
    await page
      .locator('input[type=file][aria-label="Add files"]')
      .setInputFiles({ name: 'owls.png', mimeType: 'image/png', buffer })
    const pictures = page.getByRole('region', { name: 'Shown to the model with your question' })
    await pictures.getByText('owls.png').waitFor()
  })

  it('finds what they had begun when their session has ended, and nobody else does', async () => {
    const { server, page, context } = await begin()
    await page.goto(`${server.url}/#/chat`)
    await signInAs(page, 'ada')
    const question = page.getByLabel('Question', { exact: true })
    await question.fill('How much does Bob earn?')
    const lapse = async () => {
      await context.clearCookies()
      await page.reload()
      await page.getByText('Your company’s account').waitFor()
    }
    await lapse()
    await signInAs(page, 'ada')
    await expect.poll(() => question.inputValue()).toBe('How much does Bob earn?')
    await lapse()
    await signInAs(page, 'root')
    await page.getByText('Root', { exact: true }).waitFor()
    await question.waitFor()
    expect(await question.inputValue()).toBe('')

    await question.fill('Who is to leave?')
    await lapse()
    await page.getByLabel('Server key').fill(TEST_KEY)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await question.waitFor()
    expect(await question.inputValue()).toBe('')
  })

  it('administers as a member of the group, without the server key in the page', async () => {
    const { server, page } = await begin()
    await page.goto(server.url)
    await signInAs(page, 'root')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(await linksOf(page)).toContain('Settings')
    expect(await page.getByText('Server key').count()).toBe(0)
  })

  it('can still be let in with the server key, as whoever has it', async () => {
    const { server, page, issuer } = await begin()
    issuer.fail(true)
    await page.goto(server.url)
    await page.getByLabel('Server key').fill(TEST_KEY)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
  })
})
