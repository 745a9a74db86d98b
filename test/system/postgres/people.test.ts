import { AuditPage } from '@agent-server/schemas/operator/audit.ts'
import { PeopleList } from '@agent-server/schemas/operator/people.ts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SessionState } from '../../../src/api/web-ui.ts'
import {
  type CookieBrowser,
  openCookieBrowser,
  signInAtIssuer,
} from '../../support/cookie-browser.ts'
import { startOidcIssuer } from '../../support/oidc-issuer.ts'
import { startFakeQdrant } from '../../support/qdrant/fake-qdrant.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

/** As behind one address: the cookies that a browser has for one server go to the other as well. */
function carry(browser: CookieBrowser, from: TestServer, to: TestServer): void {
  const [one, other] = [new URL(from.url), new URL(to.url)]
  const jar = Array.from(browser.cookies.get(one.host) ?? [], ([name, value]) => {
    return [name.replace(one.port, other.port), value] as const
  })
  browser.cookies.set(other.host, new Map(jar))
}

const stateAt = async (browser: CookieBrowser, { url }: TestServer) =>
  SessionState.parse(await (await browser.ask(`${url}/ui/session`)).json())

describe.skipIf(!hasPostgres)('People at two servers on one database (needs PostgreSQL)', () => {
  it('begin to sign in at one, end at the other, and are signed in at both until they sign out at one', async () => {
    const data = await createPostgresData()
    onTestFinished(() => data.remove())
    const { url: QDRANT_URL } = await startFakeQdrant()
    const issuer = await startOidcIssuer()
    issuer.accounts.set('ada', { name: 'Ada', groups: ['staff'] })
    const shared = { DATABASE_URL: data.url, QDRANT_URL, ...issuer.settings }
    const [one, other] = [await startServer(shared), await startServer(shared)]
    issuer.allow(one.url)

    const browser = openCookieBrowser()
    const callback = await signInAtIssuer(browser, {
      from: `${one.url}/ui/sign-in/oidc`,
      back: `${one.url}/ui/sign-in/callback`,
      login: 'ada',
    })
    const thief = openCookieBrowser()
    thief.cookies.set(new URL(one.url).host, new Map(browser.cookies.get(new URL(one.url).host)))
    carry(browser, one, other)
    const path = callback.slice(one.url.length)
    expect((await browser.visit(`${other.url}${path}`)).status).toBe(303)
    carry(browser, other, one)
    for (const server of [one, other]) {
      expect(await stateAt(browser, server)).toMatchObject({ person: { id: 'user:ada' } })
    }
    const people = await one.request('/admin/people')
    expect(PeopleList.parse(await people.json()).people).toMatchObject([{ groups: ['staff'] }])

    await browser.ask(`${one.url}/ui/session`, { method: 'DELETE' })
    expect(await stateAt(browser, other)).toMatchObject({ signedIn: false })
    const audit = AuditPage.parse(await (await other.request('/admin/audit')).json())
    expect(audit.entries.map(({ action }) => action)).toEqual(['signOut', 'signIn'])
    // What the one server has taken, the other takes no second time.
    expect((await thief.visit(callback)).status).toBe(401)
    const removed = await other.request('/admin/people/user:ada', { method: 'DELETE' })
    expect(removed.status).toBe(200)
  })
})
