import { expect, it } from 'vitest'
import {
  askOn,
  expectAccessible,
  goTo,
  hasBrowser,
  openPage,
  press,
  signInAs,
  useBrowser,
} from '../support/browser.ts'
import { startOidcIssuer } from '../support/oidc-issuer.ts'
import { startServer } from '../support/server.ts'

const browser = useBrowser()

it.skipIf(!hasBrowser)(
  'A conversation is shared by its owner, and read by whoever is named (needs Chromium)',
  async () => {
    const issuer = await startOidcIssuer()
    issuer.accounts.set('ada', { name: 'Ada', groups: ['staff'] })
    issuer.accounts.set('bob', { name: 'Bob', groups: ['staff'] })
    const server = await startServer(issuer.settings)
    issuer.allow(server.url)
    await server.ingest({ title: 'Owls', text: 'Owls hunt at night.', access: ['user:ada'] })
    const open = async (login: string, path: string) => {
      const { page } = await openPage(browser, server.url)
      await page.goto(`${server.url}/#/${path}`)
      await signInAs(page, login)
      await page.getByRole('heading', { level: 1 }).waitFor()
      return page
    }

    const ada = await open('ada', 'chat')
    await askOn(ada, 'When do owls hunt?')
    await ada.getByText('1 source cited').waitFor()
    await press(ada, 'Share')
    const dialog = ada.getByRole('dialog', { name: 'Share conversation' })
    await dialog.getByLabel('Kind of entry for Who may read it').selectOption('group')
    await dialog.getByLabel('Id for Who may read it').fill('staff')
    await ada.keyboard.press('Enter')
    await dialog.getByText('Group staff').waitFor()
    await expectAccessible(ada, 'share')
    // What is typed is saved, too.
    await dialog.getByLabel('Kind of entry for Who may read it').selectOption('user')
    await dialog.getByLabel('Id for Who may read it').fill('eve')
    await press(ada, 'Save')
    await dialog.waitFor({ state: 'detached' })
    const { hash } = new URL(ada.url())
    await ada.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await ada.locator('.turn').getByText('More').click()
    await press(ada, 'Copy link')
    await ada.getByText('Copied').waitFor()
    const link = await ada.evaluate<string>('navigator.clipboard.readText()')

    const bob = await open('bob', 'chat')
    const shared = bob.getByRole('region', { name: 'Shared with me' })
    await shared.getByRole('link', { name: 'When do owls hunt?' }).click()
    await bob.getByText('Somebody shares this conversation with you.').waitFor()
    expect(new URL(bob.url()).hash).toBe(hash)
    await bob.locator('.answer').getByText('Owls hunt at night').waitFor()
    await bob.getByText('1 source cited').click()
    await bob.getByText('A document that you cannot read').waitFor()
    for (const name of ['Share', 'Edit question 1', 'Retry', 'Good answer to question 1', 'Send']) {
      expect(await bob.getByRole('button', { name }).count()).toBe(0)
    }
    await expectAccessible(bob, 'shared')
    await bob.goto(link)
    await bob.locator('.turn.linked').getByText('When do owls hunt?').waitFor()
    // A new conversation is one's own again.
    await press(bob, 'New conversation')
    await bob.getByLabel('Question', { exact: true }).waitFor()

    await press(ada, 'Share')
    await dialog.getByRole('button', { name: 'Remove Group staff' }).click()
    await press(ada, 'Save')
    await dialog.waitFor({ state: 'detached' })
    await goTo(bob, 'Documents')
    await goTo(bob, 'Chat')
    await bob.getByRole('heading', { name: 'Chat', level: 1 }).waitFor()
    await expect.poll(() => shared.count()).toBe(0)
    await bob.goto(`${server.url}/${hash}`)
    await bob.getByText(/There is no conversation/).waitFor()
  },
)
