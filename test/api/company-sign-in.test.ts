import { AuditPage } from '@agent-server/schemas/operator/audit.ts'
import { describe, expect, it } from 'vitest'
import { SessionState } from '../../src/api/web-ui.ts'
import { type CookieBrowser, openCookieBrowser, signInAtIssuer } from '../support/cookie-browser.ts'
import { failureOf } from '../support/failure.ts'
import { onlyLong } from '../support/long.ts'
import { startOidcIssuer } from '../support/oidc-issuer.ts'
import { startServer, TEST_KEY, type TestServer } from '../support/server.ts'

const issuer = await startOidcIssuer()
issuer.accounts.set('ada', { name: 'Ada', email: 'ada@example.org', groups: ['staff'] })
issuer.accounts.set('root', { name: 'Root', groups: ['admins'] })
issuer.accounts.set('many', { groups: Array.from({ length: 201 }, (_, number) => `g${number}`) })
issuer.accounts.set('elsewhere', {
  _claim_names: { groups: 'src1' },
  _claim_sources: { src1: { endpoint: 'https://graph.example/getMemberObjects' } },
})
const server = await startServer(issuer.settings)
issuer.allow(server.url)

const START = '/ui/sign-in/oidc'

/** Goes to the issuer and comes back; does not open where that leads. */
async function comeBack(browser: CookieBrowser, login: string, to = '/', at: TestServer = server) {
  const from = `${at.url}${START}?${new URLSearchParams({ to })}`
  return signInAtIssuer(browser, { from, back: `${at.url}/ui/sign-in/callback`, login })
}

async function signIn(login: string, browser = openCookieBrowser(), to = '/') {
  const response = await browser.visit(await comeBack(browser, login, to))
  return { browser, response }
}

const stateOf = async (browser: CookieBrowser) =>
  SessionState.parse(await (await browser.ask(`${server.url}/ui/session`)).json())
const sessionIn = (browser: CookieBrowser) =>
  [...(browser.cookies.get(new URL(server.url).host)?.values() ?? [])].find((value) =>
    value.startsWith('person.'),
  )

describe('Who signs in with the company’s account', () => {
  it('is known to the web UI, with what they may do', async () => {
    const { browser, response } = await signIn('ada', undefined, '/#/documents')
    expect(response.status).toBe(303)
    expect(response.headers.get('location')).toBe('/#/documents')
    expect(await stateOf(browser)).toMatchObject({
      signedIn: true,
      scopes: ['query', 'chat', 'ingest'],
      person: { id: 'user:ada', name: 'Ada', isAdministrator: false },
    })
    expect((await browser.ask(`${server.url}/ui/api/documents`)).status).toBe(200)
    for (const path of ['/admin/keys', '/admin/people', '/metrics']) {
      const failure = await failureOf(await browser.ask(`${server.url}/ui/api${path}`))
      expect(failure, path).toMatchObject({ status: 403, code: 'insufficient_scope' })
    }
  })

  it('administers in the group of administrators, but does not see the server key', async () => {
    const { browser } = await signIn('root')
    expect((await browser.ask(`${server.url}/ui/api/admin/keys`)).status).toBe(200)
    const revealed = await browser.ask(`${server.url}/ui/key`, { method: 'POST' })
    expect(await failureOf(revealed)).toMatchObject({ status: 403, code: 'insufficient_scope' })
  })

  it('gets a cookie that neither scripts nor other sites can use', async () => {
    const { response } = await signIn('ada')
    const cookie = response.headers.getSetCookie().find((text) => text.includes('person.'))
    expect(cookie).toMatch(/; Path=\/ui; Max-Age=604800; HttpOnly; SameSite=Strict$/)
  })

  it.each(['many', 'elsewhere'])('is refused with words if their groups are %s', async (login) => {
    const { browser, response } = await signIn(login)
    expect(response.status).toBe(403)
    expect(await response.text()).toContain('OIDC_GROUPS_CLAIM')
    expect(sessionIn(browser)).toBeUndefined()
  })

  it('stays who they are by another name, and is nobody else by the address of another', async () => {
    issuer.accounts.set('s1', { name: 'Ada', email: 'ada@example.org' })
    const first = await signIn('s1')
    const body = JSON.stringify({})
    const path = `${server.url}/ui/api/v1/conversations`
    const created = await first.browser.ask(path, { method: 'POST', body })
    const { id } = (await created.json()) as { id: string }
    issuer.accounts.set('s1', { name: 'Ada King', email: 'king@example.org' })
    issuer.accounts.set('s2', { name: 'Ada', email: 'ada@example.org' })
    const statusFor = async (login: string) =>
      (await (await signIn(login)).browser.ask(`${path}/${id}`)).status
    expect(await statusFor('s1')).toBe(200)
    expect(await statusFor('s2')).toBe(404)
  })

  it('signs out here and at the issuer', async () => {
    const { browser } = await signIn('ada')
    const before = sessionIn(browser)
    const response = await browser.ask(`${server.url}/ui/session`, { method: 'DELETE' })
    const { signOutUrl } = (await response.json()) as { signOutUrl: string }
    const url = new URL(signOutUrl)
    expect(`${url.origin}${url.pathname}`).toBe(`${issuer.url}/session/end`)
    expect(url.searchParams.get('post_logout_redirect_uri')).toBe(`${server.url}/`)
    const again = openCookieBrowser()
    const jar = new Map([[`agent-server-${new URL(server.url).port}`, before ?? '']])
    again.cookies.set(new URL(server.url).host, jar)
    expect(await stateOf(again)).toMatchObject({ signedIn: false, scopes: [] })
  })

  it('is asked for neither the key nor an account twice: the key lets in as before', async () => {
    const browser = openCookieBrowser()
    expect(await stateOf(browser)).toMatchObject({ signedIn: false, signInPath: START })
    const body = JSON.stringify({ key: TEST_KEY })
    const response = await browser.ask(`${server.url}/ui/session`, { method: 'POST', body })
    expect(response.status).toBe(204)
    const state = await stateOf(browser)
    expect(state.scopes).toContain('admin')
    expect(state.person).toBeUndefined()
  })
})

describe('Sign-in is refused', () => {
  it('to another browser than the one that began it', async () => {
    const attacker = openCookieBrowser()
    const callback = await comeBack(attacker, 'ada')
    const victim = openCookieBrowser()
    const response = await victim.visit(callback)
    expect(response.status).toBe(401)
    expect(sessionIn(victim)).toBeUndefined()
    // Nor where the victim has begun a sign-in of their own.
    await victim.visit(`${server.url}${START}`)
    expect((await victim.visit(callback)).status).toBe(401)
    expect(sessionIn(victim)).toBeUndefined()
  })

  it('to the code of somebody else in a sign-in of one’s own', async () => {
    const stolen =
      new URL(await comeBack(openCookieBrowser(), 'root')).searchParams.get('code') ?? ''
    const thief = openCookieBrowser()
    const own = new URL(await comeBack(thief, 'ada'))
    own.searchParams.set('code', stolen)
    expect((await thief.visit(own.href)).status).toBe(401)
    expect(sessionIn(thief)).toBeUndefined()
  })

  it('to a code that was used, and with another state or issuer', async () => {
    const browser = openCookieBrowser()
    const callback = await comeBack(browser, 'ada')
    const jar = new Map(browser.cookies.get(new URL(server.url).host))
    const replay = async (change: (url: URL) => void) => {
      const url = new URL(callback)
      change(url)
      const thief = openCookieBrowser()
      thief.cookies.set(url.host, new Map(jar))
      return (await thief.visit(url.href)).status
    }
    expect(await replay((url) => url.searchParams.set('state', 'another'))).toBe(401)
    expect(await replay((url) => url.searchParams.delete('state'))).toBe(401)
    expect(await replay((url) => url.searchParams.set('iss', 'https://evil.example'))).toBe(401)
    expect(await replay((url) => url.searchParams.delete('iss'))).toBe(401)
    expect(await replay((url) => url.searchParams.append('code', 'second'))).toBe(401)
    expect(await replay(() => undefined)).toBe(303)
    expect(await replay(() => undefined)).toBe(401)
  })

  it('if what the browser brings was changed, or is of another kind', async () => {
    const browser = openCookieBrowser()
    const callback = await comeBack(browser, 'ada')
    const jar = browser.cookies.get(new URL(server.url).host)
    const [name = '', sealed = ''] = [...(jar ?? [])].find(([key]) => key.endsWith('sign-in')) ?? []
    for (const value of [`${sealed.slice(0, -2)}AA`, sealed.slice(10), 'x', '']) {
      jar?.set(name, value)
      expect((await browser.visit(callback)).status).toBe(401)
    }
  })

  it('with a page that says why, in which nothing of the address is markup', async () => {
    const error = '<script>alert(1)</script>'
    const browser = openCookieBrowser()
    const begun = await browser.visit(`${server.url}${START}`)
    const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state') ?? ''
    const query = new URLSearchParams({ error, state, iss: issuer.url })
    const response = await browser.visit(`${server.url}/ui/sign-in/callback?${query}`)
    expect(response.status).toBe(401)
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await response.text()).not.toContain('<script')
  })
})

it.each([
  'https://evil.example/',
  '//evil.example/',
  '/\\evil.example/',
  '\\\\evil.example',
  '/\t/evil.example',
  'javascript:alert(1)',
  '/.//evil.example',
  '/ui/../..//evil.example',
  'evil.example',
  ' //evil.example',
])('Sign-in leads nowhere but to this server: not to %j', async (to) => {
  const { browser, response } = await signIn('ada', undefined, to)
  const location = response.headers.get('location') ?? ''
  expect(new URL(location, server.url).origin).toBe(server.url)
  expect(location).toMatch(/^\/(?!\/)/)
  expect(sessionIn(browser)).toBeDefined()
})

it('A session that somebody else has put into the browser is not the one that sign-in opens', async () => {
  const { browser: attacker } = await signIn('ada')
  const planted = sessionIn(attacker) ?? ''
  const victim = openCookieBrowser()
  victim.cookies.set(
    new URL(server.url).host,
    new Map([[`agent-server-${new URL(server.url).port}`, planted]]),
  )
  await signIn('root', victim)
  expect(sessionIn(victim)).not.toBe(planted)
  expect(await stateOf(victim)).toMatchObject({ person: { id: 'user:root' } })
  expect(await stateOf(attacker)).toMatchObject({ person: { id: 'user:ada' } })
})

it('While the issuer is down, sign-in says so, and sessions go on', async () => {
  const { browser } = await signIn('ada')
  issuer.fail(true)
  try {
    const other = await startServer(issuer.settings)
    const response = await openCookieBrowser().visit(`${other.url}${START}`)
    expect(response.status).toBe(503)
    expect(await stateOf(browser)).toMatchObject({ signedIn: true })
  } finally {
    issuer.fail(false)
  }
})

it('Sign-ins with accounts, failed ones and sign-outs are in the audit log', async () => {
  const { browser } = await signIn('ada')
  await browser.ask(`${server.url}/ui/session`, { method: 'DELETE' })
  await openCookieBrowser().visit(`${server.url}/ui/sign-in/callback?code=x&state=y`)
  const response = await server.request('/admin/audit?limit=3')
  const { entries } = AuditPage.parse(await response.json())
  expect(entries).toMatchObject([
    { who: 'stranger', action: 'signInFailed', targets: { code: 'unauthorized' } },
    { who: 'user:ada', action: 'signOut', address: '127.0.0.1' },
    { who: 'user:ada', action: 'signIn', address: '127.0.0.1' },
  ])
})

it('Without an issuer there is nothing to sign in with but the key', async () => {
  const { url } = await startServer()
  const state = await openCookieBrowser().ask(`${url}/ui/session`)
  expect(await state.json()).not.toHaveProperty('signInPath')
  expect((await openCookieBrowser().visit(`${url}${START}`)).status).toBe(401)
})

it('Behind a proxy that speaks HTTPS, cookies are sent over HTTPS alone, whatever the proxy says', async () => {
  const { url } = await startServer({ ...issuer.settings, PUBLIC_URL: 'https://agent.example.org' })
  const begun = await openCookieBrowser().visit(`${url}${START}`)
  expect(begun.headers.getSetCookie()).toEqual([expect.stringMatching(/; Secure$/)])
  // Named by the port that browsers see: servers behind one proxy share their sessions.
  expect(begun.headers.getSetCookie()[0]).toMatch(/^agent-server-443-sign-in=/)
  const body = JSON.stringify({ key: TEST_KEY })
  const opened = await openCookieBrowser().ask(`${url}/ui/session`, { method: 'POST', body })
  const secure = expect.stringMatching(/; Secure$/)
  expect(opened.headers.getSetCookie()).toEqual([secure, secure])
})

it.each(['https://agent.example.org:8443', 'http://127.0.0.1:8443'])(
  'Sessions count at every server behind %s, whatever port each listens at',
  async (PUBLIC_URL) => {
    const settings = { ...issuer.settings, PUBLIC_URL }
    const [one, other] = [await startServer(settings), await startServer(settings)]
    for (const { url } of [one, other]) {
      const body = JSON.stringify({ key: TEST_KEY })
      const browser = openCookieBrowser()
      const opened = await browser.ask(`${url}/ui/session`, { method: 'POST', body })
      expect(opened.headers.getSetCookie()[0]).toMatch(/^agent-server-8443=/)
      const state = await browser.ask(`${url}/ui/session`)
      expect(await state.json()).toMatchObject({ signedIn: true })
    }
  },
)

it('A page of the sign-in that does not exist is not found, without a key as well', async () => {
  const response = await openCookieBrowser().visit(`${server.url}/ui/sign-in/nowhere`)
  expect(await failureOf(response)).toMatchObject({ status: 404, code: 'route_not_found' })
})

it('Who sends many false sign-outs keeps nobody from signing in', onlyLong, async () => {
  const { url } = await startServer(issuer.settings)
  issuer.allow(url)
  const form = { method: 'POST', body: new URLSearchParams({ other: 'x' }) }
  const send = async () => (await fetch(`${url}/ui/sign-in/logout`, form)).status
  for (let sent = 0; sent < 300; sent += 1) await send()
  expect(await send()).toBe(429)
  expect((await openCookieBrowser().visit(`${url}${START}`)).status).toBe(303)
})

it('Of two cookies with the name of the session, neither counts', async () => {
  const { browser } = await signIn('ada')
  const name = `agent-server-${new URL(server.url).port}`
  const headers = {
    cookie: `${name}=planted; ${name}=${sessionIn(browser)}`,
    'sec-fetch-site': 'same-origin',
  }
  const response = await fetch(`${server.url}/ui/session`, { headers })
  expect(await response.json()).toMatchObject({ signedIn: false })
})
