import { describe, expect, it } from 'vitest'
import { expectAccessible, hasBrowser, openPage, useBrowser } from '../support/browser.ts'
import { startOidcIssuer } from '../support/oidc-issuer.ts'
import { startServer, TEST_KEY } from '../support/server.ts'

const browser = useBrowser()

async function begin() {
  const issuer = await startOidcIssuer()
  issuer.accounts.set('ada', { name: 'Ada Lovelace', groups: ['staff'] })
  issuer.accounts.set('root', { name: 'Root', groups: ['admins'] })
  const server = await startServer(issuer.settings)
  issuer.allow(server.url)
  const { page } = await openPage(browser, server.url)
  return { issuer, server, page }
}

type Page = Awaited<ReturnType<typeof begin>>['page']

async function signInAs(page: Page, login: string) {
  await page.getByRole('link', { name: 'Sign in with your account' }).click()
  await page.locator('input[name=login]').fill(login)
  await page.locator('input[name=password]').fill('any')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
}

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
    expect(await linksOf(page)).toEqual(['Chat', 'Documents', 'Collections', 'Search'])
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
