import { expect, it } from 'vitest'
import {
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
  'Whoever may change a document or a collection says who may read it (needs Chromium)',
  async () => {
    const issuer = await startOidcIssuer()
    issuer.accounts.set('ada', { name: 'Ada', groups: ['staff'] })
    issuer.accounts.set('bob', { name: 'Bob', groups: ['staff'] })
    const server = await startServer(issuer.settings)
    issuer.allow(server.url)
    const open = async (login: string, path: string) => {
      const { page } = await openPage(browser, server.url)
      await page.goto(`${server.url}/#/${path}`)
      await signInAs(page, login)
      await page.getByRole('heading', { level: 1 }).waitFor()
      return page
    }
    const read = async (path: string): Promise<unknown> => (await server.request(path)).json()

    const ada = await open('ada', 'collections')
    await press(ada, 'New collection')
    await ada.getByLabel('Name', { exact: true }).fill('birds')
    await press(ada, 'Create')
    await ada.getByRole('link', { name: 'birds' }).waitFor()
    await goTo(ada, 'Documents')
    await press(ada, 'Paste text')
    await ada.getByRole('dialog').getByLabel('Title').fill('Owls')
    await ada.getByRole('dialog').getByLabel('Text', { exact: true }).fill('Owls hunt at night.')
    await ada.getByRole('dialog').getByLabel('Add to collection').fill('birds')
    await ada.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click()
    await ada.getByRole('link', { name: 'Owls' }).click()
    await ada.getByText('Whoever may read its collection').waitFor()
    await press(ada, 'Access')
    const dialog = ada.getByRole('dialog')
    await dialog.getByRole('radio', { name: 'Only these' }).check()
    await dialog.getByLabel('Id for People and groups').fill('bob')
    await expectAccessible(ada, 'document-access')
    await press(ada, 'Save')
    await ada.getByText('Only bob, whoever added it, and administrators').waitFor()
    const id = new URL(ada.url()).hash.split('/').at(-1)
    expect(await read(`/documents/${id}`)).toMatchObject({ access: ['user:bob'] })

    await goTo(ada, 'Collections')
    await ada.getByRole('button', { name: 'Access to birds' }).click()
    await dialog.getByLabel('Kind of entry for May read').selectOption('group')
    await dialog.getByLabel('Id for May read').fill('staff')
    await expectAccessible(ada, 'collection-access')
    await press(ada, 'Save')
    await ada.getByText('1 document, shared with Group staff, ada').waitFor()
    expect(await read('/collections/birds')).toMatchObject({
      access: ['group:staff'],
      owners: ['user:ada'],
    })
    await expectAccessible(ada, 'collections-shared')

    const bob = await open('bob', 'collections')
    await bob.getByRole('link', { name: 'birds' }).click()
    await bob.getByRole('link', { name: 'Owls' }).click()
    await bob.getByRole('heading', { name: 'Owls' }).waitFor()
    expect(await bob.getByRole('button', { name: 'Access' }).count()).toBe(0)
    await goTo(bob, 'Collections')
    await bob.getByRole('link', { name: 'birds' }).waitFor()
    expect(await bob.getByRole('button', { name: 'Access to birds' }).count()).toBe(0)
  },
)
