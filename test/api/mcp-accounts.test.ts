import { McpAccountList, McpAccountStart } from '@agent-server/schemas/mcp.ts'
import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { AuditPage } from '@agent-server/schemas/operator/audit.ts'
import { describe, expect, it } from 'vitest'
import { type CookieBrowser, openCookieBrowser, signInAtIssuer } from '../support/cookie-browser.ts'
import { failureOf } from '../support/failure.ts'
import { onlyLong } from '../support/long.ts'
import { startWith } from '../support/mcp-connections.ts'
import { modelRequest } from '../support/model-request.ts'
import { startOidcIssuer } from '../support/oidc-issuer.ts'
import { startPersonalServer } from '../support/personal-mcp-server.ts'
import { requester } from '../support/server.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

const LOGINS = ['ada', 'bob', 'cleo', 'dan', 'eve']
const issuer = await startOidcIssuer()
for (const login of LOGINS) issuer.accounts.set(login, { name: login, groups: [] })
issuer.accounts.set('root', { name: 'Root', groups: ['admins'] })
const tickets = await startPersonalServer(LOGINS)
const { server, upstream } = await startWith(
  { tickets: { url: tickets.url, oauth: { per: 'person' } } },
  { ...issuer.settings, PORT: '0' },
)
issuer.allow(server.url)

async function signIn(login: string) {
  const browser = openCookieBrowser()
  const from = `${server.url}/ui/sign-in/oidc`
  const back = `${server.url}/ui/sign-in/callback`
  await browser.visit(await signInAtIssuer(browser, { from, back, login }))
  return browser
}

const api = (browser: CookieBrowser, path: string, init?: RequestInit) =>
  browser.ask(`${server.url}/ui/api${path}`, init)

/** Allows access at the authorisation server; returns the address of this server to which that leads back. */
async function allow(browser: CookieBrowser, login: string) {
  const response = await api(browser, '/agent/accounts/tickets', { method: 'POST' })
  const { url } = McpAccountStart.parse(await response.json())
  return (
    (await fetch(`${url}&login=${login}`, { redirect: 'manual' })).headers.get('location') ?? ''
  )
}

async function connected(login: string) {
  const browser = await signIn(login)
  const response = await browser.visit(await allow(browser, login))
  expect(response.headers.get('location')).toBe('/#/accounts')
  return browser
}

const accountsOf = async (browser: CookieBrowser) =>
  McpAccountList.parse(await (await api(browser, '/agent/accounts')).json()).accounts

/** A question in the web UI, for which the model calls a tool; the tools that it was offered, and what came back. */
async function askWith(browser: CookieBrowser, tool: string) {
  upstream.script(toolCallReply({ name: tool, arguments: {} }), textReply('Done.'))
  const body = JSON.stringify({
    messages: [{ role: 'user', content: 'Who am I?' }],
    includeSteps: true,
  })
  const answer = await (await api(browser, '/chat', { method: 'POST', body })).text()
  const [first, last] = upstream.requests.slice(-2).map(modelRequest)
  const offered = first?.tools.map((one) => one.function.name) ?? []
  const output = last?.messages.findLast(({ role }) => role === 'tool')?.content ?? ''
  return { offered: offered.filter((name) => name.startsWith('mcp__')), output, answer }
}

describe('A server at which each person has their own account', () => {
  it('offers who has not connected one a tool that says where', onlyLong, async () => {
    const browser = await signIn('eve')
    expect(await accountsOf(browser)).toEqual([{ connection: 'tickets' }])
    const { offered, output } = await askWith(browser, 'mcp__tickets__connect_account')
    expect(offered).toEqual(['mcp__tickets__connect_account'])
    expect(output).toContain('/#/accounts')
  })

  it('offers each person their own tools, and is sent their own tokens alone', async () => {
    const [ada, bob] = [await connected('ada'), await connected('bob')]
    for (const [browser, login, other] of [
      [ada, 'ada', 'bob'],
      [bob, 'bob', 'ada'],
    ] as const) {
      const before = tickets.tokens.length
      const { offered, output, answer } = await askWith(browser, 'mcp__tickets__whoami')
      expect(offered).toEqual(['mcp__tickets__whoami', `mcp__tickets__notes_of_${login}`])
      expect(output).toBe(`You are ${login}`)
      const sent = tickets.tokens.slice(before)
      expect(sent.length).toBeGreaterThan(0)
      for (const token of sent) expect(token).toMatch(new RegExp(`^canary-${login}-`))
      expect(answer).not.toContain('canary-')
      const { output: refused } = await askWith(browser, `mcp__tickets__notes_of_${other}`)
      expect(refused).toContain('There is no tool')
    }
    const both = await Promise.all(
      [ada, bob, ada, bob].map((browser) => api(browser, '/agent/accounts')),
    )
    for (const response of both) expect(await response.text()).not.toContain('canary-')
  })

  it('knows this server as one client, whoever connects an account', async () => {
    await Promise.all([connected('ada'), connected('bob'), connected('ada')])
    expect(tickets.registrations).toHaveLength(1)
  })

  it('is used by nobody with an API key, and by a program for the person for whom it speaks', async () => {
    await connected('cleo')
    const created = await server.request('/admin/keys', {
      body: { name: 'Back end', scopes: ['chat', 'act-as'] },
    })
    const key = requester(server.url, ApiKeyCreated.parse(await created.json()).secret)
    expect(await failureOf(await key('/agent/accounts'))).toMatchObject({ code: 'not_permitted' })
    const offered = async (headers: Record<string, string>) => {
      upstream.script(textReply('Done.'))
      const body = { messages: [{ role: 'user', content: 'Hello' }] }
      await (await key('/chat', { body, headers })).text()
      return JSON.stringify(modelRequest(upstream.requests.at(-1)).tools)
    }
    expect(await offered({})).not.toContain('mcp__')
    expect(await offered({ 'agent-user': 'cleo' })).toContain('notes_of_cleo')
    expect(await offered({ 'agent-user': 'stranger' })).toContain('connect_account')
    const begun = await key('/agent/accounts/tickets', {
      method: 'POST',
      headers: { 'agent-user': 'cleo' },
    })
    expect(McpAccountStart.parse(await begun.json()).url).toMatch(/\/#\/accounts$/)
    expect(begun.headers.getSetCookie()).toEqual([])
    await key('/agent/accounts/tickets', { method: 'DELETE', headers: { 'agent-user': 'cleo' } })
    const log = await server.request('/admin/audit?who=user:cleo&action=accountDisconnected')
    expect(AuditPage.parse(await log.json()).entries[0]?.targets).toEqual({
      connection: 'tickets',
      by: expect.stringMatching(/^key:/),
    })
  })

  it('is connected only in the browser that began it, once, and with the answer that it waits for', async () => {
    const attacker = await signIn('eve')
    const callback = await allow(attacker, 'dan')
    const victim = await signIn('dan')
    const page = await victim.visit(callback)
    expect(page.status).toBe(401)
    expect(await page.text()).toMatch(/<title>Account not connected<.*href="\/#\/accounts"/s)
    expect(await accountsOf(victim)).toEqual([{ connection: 'tickets' }])
    const jar = new Map(attacker.cookies.get(new URL(server.url).host))
    const comeBack = async (change: (url: URL) => void) => {
      const url = new URL(callback)
      change(url)
      const browser = openCookieBrowser()
      browser.cookies.set(url.host, new Map(jar))
      return (await browser.visit(url.href)).status
    }
    expect(await comeBack((url) => url.searchParams.set('state', 'another'))).toBe(401)
    expect(await comeBack((url) => url.searchParams.delete('code'))).toBe(401)
    expect(await comeBack((url) => url.searchParams.set('iss', 'https://evil.example'))).toBe(502)
    const atAnother = (url: URL) => {
      url.pathname = url.pathname.replace('tickets', 'another')
    }
    expect(new URL(callback).pathname).toBe('/ui/sign-in/account/tickets')
    expect(await comeBack(atAnother)).toBe(401)
    expect(await comeBack(() => undefined)).toBe(303)
    expect(await comeBack(() => undefined)).toBe(502)
  })

  it('is not connected by who has signed out, or signs in after somebody else', async () => {
    const browser = await signIn('eve')
    const callback = await allow(browser, 'eve')
    const { status } = await browser.ask(`${server.url}/ui/session`, { method: 'DELETE' })
    expect(status).toBeLessThan(300)
    expect((await browser.visit(callback)).status).toBe(401)
    const shared = await signIn('eve')
    const begun = await allow(shared, 'eve')
    const from = `${server.url}/ui/sign-in/oidc`
    const back = `${server.url}/ui/sign-in/callback`
    await shared.visit(await signInAtIssuer(shared, { from, back, login: 'dan' }))
    expect((await shared.visit(begun)).status).toBe(401)
  })

  it('is gone with the account, whoever disconnects it, and the audit log tells', async () => {
    const browser = await connected('dan')
    const remove = (at: CookieBrowser, query = '') =>
      api(at, `/agent/accounts/tickets${query}`, { method: 'DELETE' })
    expect((await remove(browser)).status).toBe(204)
    expect((await askWith(browser, 'mcp__tickets__whoami')).output).toContain('There is no tool')
    await browser.visit(await allow(browser, 'dan'))
    expect(await failureOf(await remove(await signIn('bob'), '?person=user:dan'))).toMatchObject({
      code: 'insufficient_scope',
    })
    expect((await accountsOf(browser))[0]).toHaveProperty('connectedAt')
    expect((await remove(await signIn('root'), '?person=user:dan')).status).toBe(204)
    expect(await accountsOf(browser)).toEqual([{ connection: 'tickets' }])
    const log = async (who: string) =>
      AuditPage.parse(await (await server.request(`/admin/audit?who=${who}`)).json())
        .entries.map(({ action, targets }) => ({ action, targets }))
        .filter(({ action }) => action.startsWith('account'))
    const targets = { connection: 'tickets' }
    expect(await log('user:dan')).toEqual([
      { action: 'accountConnected', targets },
      { action: 'accountDisconnected', targets },
      { action: 'accountConnected', targets },
    ])
    expect(await log('user:root')).toEqual([
      { action: 'accountDisconnected', targets: { ...targets, person: 'user:dan' } },
    ])
  })

  it('no longer takes tokens that it has revoked: the person is told to connect it again', async () => {
    const browser = await connected('cleo')
    expect((await askWith(browser, 'mcp__tickets__whoami')).output).toBe('You are cleo')
    tickets.revoke('cleo')
    expect((await askWith(browser, 'mcp__tickets__whoami')).output).toContain('/#/accounts')
    expect(await accountsOf(browser)).toEqual([{ connection: 'tickets' }])
    expect((await askWith(browser, 'mcp__tickets__whoami')).offered).toEqual([
      'mcp__tickets__connect_account',
    ])
  })

  it('is forgotten with the person', async () => {
    const browser = await connected('bob')
    const callback = await allow(browser, 'bob')
    const removal = await server.request('/admin/people/user:bob', { method: 'DELETE' })
    expect(await removal.json()).toMatchObject({ removed: { accounts: 1 } })
    expect((await browser.visit(callback)).status).toBe(401)
    expect(await accountsOf(await signIn('bob'))).toEqual([{ connection: 'tickets' }])
  })
})
