import { hash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { version } from 'pdfjs-dist'
import { describe, expect, it } from 'vitest'
import { SessionState } from '../../src/api/web-ui.ts'
import { verifies } from '../requirements.ts'
import { onlyLong } from '../support/long.ts'
import { startServer, TEST_KEY, type TestServer } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const WEB_UI = { 'x-agent-server-web-ui': '1' }
const JSON_TYPE = { 'content-type': 'application/json' }

/** What a browser sends with a write of the web UI, over plain HTTP from another machine: no `Sec-Fetch-Site`. */
const own = ({ url }: TestServer) => ({ ...WEB_UI, origin: url })

function signIn(server: TestServer, body: object, headers: Record<string, string> = own(server)) {
  return fetch(`${server.url}/ui/session`, {
    method: 'POST',
    headers: { ...JSON_TYPE, ...headers },
    body: JSON.stringify(body),
  })
}

/** The cookie of a new session, as a browser sends it back. */
async function openSession(server: TestServer): Promise<string> {
  const response = await signIn(server, { key: TEST_KEY })
  expect(response.status).toBe(204)
  return cookieOf(response)
}

const cookieOf = (response: Response) => response.headers.get('set-cookie')?.split(';')[0] ?? ''

async function isSignedIn({ url }: TestServer, cookie: string): Promise<boolean> {
  const response = await fetch(`${url}/ui/session`, { headers: { cookie } })
  return SessionState.parse(await response.json()).signedIn
}

/** For all that leaves it as it was. */
const server = await startServer()

describe('GET /', verifies('web-ui.page', 'web-ui.off'), () => {
  it('gives a browser the page, compressed, and the files that it names', async () => {
    const { url } = server
    const response = await fetch(`${url}/`, { headers: HTML })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^text\/html/)
    const page = await response.text()
    const names = Array.from(page.matchAll(/"(\/ui\/assets\/[^"]+)"/g), ([, name]) => name)
    expect(names).toHaveLength(3)
    let bytes = 0
    for (const name of names) {
      const asset = await fetch(`${url}${name}`, { headers: { 'accept-encoding': 'br' } })
      expect(asset.status).toBe(200)
      expect(asset.headers.get('cache-control')).toContain('immutable')
      expect(asset.headers.get('content-encoding')).toBe('br')
      bytes += Number(asset.headers.get('content-length'))
    }
    expect(bytes).toBeGreaterThan(1_000)
    expect(bytes).toBeLessThan(150_000)
  })

  it(
    'gives the reader of PDFs its worker, decoders and character maps, and no other file',
    onlyLong,
    async () => {
      const files = ['pdf.worker.mjs', 'openjpeg.wasm', 'jbig2.wasm', 'UniGB-UCS2-H.bcmap']
      const ask = (name: string) => fetch(`${server.url}/ui/assets/${encodeURIComponent(name)}`)
      for (const file of files) {
        const response = await ask(`pdfjs-${version}-${file}`)
        expect(response.status, file).toBe(200)
        expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(1_000)
        // It is that of the worker, which thereby can load nothing.
        const policy = response.headers.get('content-security-policy')
        expect(policy).toBe("default-src 'none'; script-src 'wasm-unsafe-eval'")
      }
      const [worker = ''] = files
      const { headers } = await ask(`pdfjs-${version}-${worker}`)
      expect(headers.get('content-type')).toMatch(/^text\/javascript/)
      const wrong = [
        `pdfjs-0.0.1-${worker}`,
        worker,
        `pdfjs-${version}-pdf.mjs`,
        `pdfjs-${version}-../package.json`,
        `pdfjs-${version}-missing.bcmap`,
      ]
      for (const name of wrong) expect((await ask(name)).status, name).toBe(404)
    },
  )

  it('keeps its answer for everybody else', async () => {
    expect((await fetch(`${server.url}/`)).status).toBe(401)
    expect(await (await server.request('/')).json()).toMatchObject({
      error: { code: 'route_not_found' },
    })
    const post = await fetch(`${server.url}/`, { method: 'POST', headers: HTML })
    expect(post.status).toBe(401)
  })

  it('holds the page to a policy without exceptions, that works over plain HTTP', async () => {
    const { url } = server
    const { headers } = await fetch(`${url}/`, { headers: HTML })
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|upgrade-insecure|https?:|\*/)
    expect(headers.get('x-frame-options')).toBe('DENY')
  })

  it.each(['html', 'diagram'])(
    'holds the page of a frame for %s to its own scripts, without any way out',
    async (kind) => {
      const response = await fetch(`${server.url}/ui/preview/${kind}`)
      expect(response.status).toBe(200)
      const policy = response.headers.get('content-security-policy') ?? ''
      const [rules, scripts = ''] = policy.split(';script-src ')
      expect(rules).toBe(
        "sandbox allow-scripts;default-src 'none';style-src 'unsafe-inline';img-src data:;base-uri 'none';form-action 'none';frame-ancestors 'self'",
      )
      const page = await response.text()
      const bodies = Array.from(page.matchAll(/<script>(.*?)<\/script>/gs), ([, body = '']) => body)
      const allowed = bodies.map((body) => `'sha256-${hash('sha256', body, 'base64')}'`)
      expect(scripts.split(' ')).toEqual(allowed)
      expect(bodies).toHaveLength(kind === 'html' ? 1 : 2)
      expect(page).not.toMatch(/\r|<!--/)
      expect((await fetch(`${server.url}/ui/preview/else`)).status).toBe(400)
    },
  )

  it('is asked for again only where it has changed', async () => {
    const { url } = server
    const etag = (await fetch(`${url}/`, { headers: HTML })).headers.get('etag') ?? ''
    const again = await fetch(`${url}/`, { headers: { ...HTML, 'if-none-match': etag } })
    expect(again.status).toBe(304)
  })

  it('says in plain words why there is no page, and serves the API all the same', async () => {
    const sources = await temporaryDirectory()
    await writeFile(join(sources, 'main.tsx'), 'const broken = ')
    const server = await startServer({}, { webUiSources: sources })
    const response = await fetch(`${server.url}/`, { headers: HTML })
    expect(response.status).toBe(500)
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(await response.text()).toMatch(/could not be bundled: .*main\.tsx/s)
    expect((await server.request('/agent')).status).toBe(200)
  })

  it('is off with UI=off, and so is all else of the web UI', async () => {
    const server = await startServer({ UI: 'off' })
    expect((await fetch(`${server.url}/`, { headers: HTML })).status).toBe(401)
    expect((await signIn(server, { key: TEST_KEY })).status).toBe(401)
    expect((await server.request('/ui/session')).status).toBe(404)
    expect((await server.request('/ui/api/health')).status).toBe(404)
  })
})

describe('A session', verifies('web-ui.session', 'web-ui.restart'), () => {
  it('begins with the key, and lets the web UI use the API', async () => {
    const response = await signIn(server, { key: TEST_KEY })
    const [set = '', account] = response.headers.getSetCookie()
    expect(set).toMatch(/; Path=\/ui; Max-Age=604800; HttpOnly; SameSite=Strict$/)
    expect(set).not.toContain(TEST_KEY)
    expect(account).toMatch(/-account=; Path=\/ui\/sign-in; Max-Age=0;/)
    const headers = { ...own(server), ...JSON_TYPE, cookie: cookieOf(response) }
    const body = JSON.stringify({ query: 'Anything?' })
    const found = await fetch(`${server.url}/ui/api/query`, { method: 'POST', headers, body })
    expect(await found.json()).toEqual({ query: 'Anything?', hits: [] })
  })

  it('has a Secure cookie where the page came over HTTPS, also through a proxy', async () => {
    const headers = { ...WEB_UI, origin: 'https://agent.example', 'sec-fetch-site': 'same-origin' }
    const response = await signIn(server, { key: TEST_KEY }, headers)
    expect(response.headers.get('set-cookie')).toMatch(/; Secure$/)
  })

  it('has a Secure cookie where a proxy says so that is believed', async () => {
    const behind = async (environment: Record<string, string>) => {
      const server = await startServer(environment)
      const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'agent.example' }
      const headers = { ...WEB_UI, 'sec-fetch-site': 'same-origin', ...forwarded }
      const response = await signIn(server, { key: TEST_KEY }, headers)
      return response.headers.getSetCookie()[0]
    }
    expect(await behind({ TRUST_PROXY: '127.0.0.1' })).toMatch(/; Secure$/)
    expect(await behind({})).toMatch(/; SameSite=Strict$/)
  })

  it('ends when somebody signs out, also for whoever has copied the cookie', async () => {
    const cookie = await openSession(server)
    expect(await isSignedIn(server, cookie)).toBe(true)
    const headers = { ...own(server), cookie }
    const left = await fetch(`${server.url}/ui/session`, { method: 'DELETE', headers })
    expect(left.status).toBe(204)
    expect(left.headers.get('set-cookie')).toContain('Max-Age=0')
    expect(await isSignedIn(server, cookie)).toBe(false)
    expect((await fetch(`${server.url}/ui/api/agent`, { headers })).status).toBe(401)
  })

  it(
    'outlives a restart only with the same key, and leaves nothing on the disk that opens one',
    onlyLong,
    async () => {
      const DATA_DIR = await temporaryDirectory()
      // Cookies are named for the port.
      const first = await startServer({ DATA_DIR })
      const cookie = await openSession(first)
      const [, value = ''] = cookie.split('=')
      await first.close()
      expect(await readFile(join(DATA_DIR, 'web-ui-sessions.json'), 'utf8')).not.toContain(value)

      const cookieFor = ({ url }: TestServer) => `agent-server-${new URL(url).port}=${value}`
      const second = await startServer({ DATA_DIR })
      expect(await isSignedIn(second, cookieFor(second))).toBe(true)
      await second.close()
      const changed = await startServer({ DATA_DIR, SERVER_API_KEY: 'another-key-than-before' })
      expect(await isSignedIn(changed, cookieFor(changed))).toBe(false)
    },
  )

  it('shows the key to whoever is signed in, and to nobody else', async () => {
    const cookie = await openSession(server)
    const ask = (headers: Record<string, string>) =>
      fetch(`${server.url}/ui/key`, { method: 'POST', headers })
    const shown = await ask({ ...own(server), cookie })
    expect(shown.headers.get('cache-control')).toBe('no-store')
    expect(await shown.json()).toEqual({ key: TEST_KEY })
    expect((await ask(own(server))).status).toBe(401)
    expect((await ask({ cookie, origin: server.url })).status).toBe(403)
    expect((await ask({ ...WEB_UI, cookie, origin: 'https://elsewhere.example' })).status).toBe(403)
  })
})

describe('What is not the web UI', verifies('web-ui.cookie-paths', 'web-ui.same-origin'), () => {
  it('finds no use for its cookie on the paths of the API', async () => {
    const headers = { ...own(server), cookie: await openSession(server) }
    for (const path of ['/agent', '/documents', '/metrics', '/unknown']) {
      expect((await fetch(`${server.url}${path}`, { headers })).status, path).toBe(401)
    }
  })

  it('finds no use for the key on the paths of the web UI', async () => {
    const response = await server.request('/ui/api/agent', { headers: WEB_UI })
    expect(response.status).toBe(401)
  })

  it.each<[string, Record<string, string>, string]>([
    ['a form of another site', { origin: 'https://elsewhere.example' }, 'POST'],
    ['a page of another port of this host', { ...WEB_UI, origin: 'http://127.0.0.1:1' }, 'POST'],
    [
      'a page that the browser says is of another port',
      { ...WEB_UI, 'sec-fetch-site': 'same-site' },
      'POST',
    ],
    [
      'a page that the browser says is of another site',
      { ...WEB_UI, 'sec-fetch-site': 'cross-site' },
      'POST',
    ],
    ['a sandboxed frame', { ...WEB_UI, origin: 'null' }, 'POST'],
    ['a write without an origin', WEB_UI, 'POST'],
    ['an image of another port', { 'sec-fetch-site': 'same-site' }, 'GET'],
    ['a link of another site', { 'sec-fetch-site': 'cross-site' }, 'GET'],
    ['an address that somebody was made to open', { 'sec-fetch-site': 'none' }, 'GET'],
  ])('is refused with the cookie: %s', async (_case, headers, method) => {
    const cookie = await openSession(server)
    const path = method === 'GET' ? '/ui/api/documents' : '/ui/api/agent/skills/reload'
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: { cookie, ...headers, ...(method === 'POST' && JSON_TYPE) },
      ...(method === 'POST' && { body: '{}' }),
    })
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({ error: { code: 'origin_not_allowed' } })
  })

  it('cannot have a browser sign in, not even with the right key', async () => {
    const headers = {
      ...WEB_UI,
      'sec-fetch-site': 'cross-site',
      origin: 'https://elsewhere.example',
    }
    const response = await signIn(server, { key: TEST_KEY }, headers)
    expect(response.status).toBe(403)
    expect(response.headers.get('set-cookie')).toBeNull()
  })
})

describe('A wrong key', () => {
  it(
    'is refused, and after ten of them so is the right one, for a while',
    verifies('web-ui.wrong-keys'),
    async () => {
      const server = await startServer()
      for (let attempt = 0; attempt < 10; attempt += 1) {
        const wrong = await signIn(server, { key: `a-wrong-key-${attempt}` })
        expect(wrong.status).toBe(401)
        expect(wrong.headers.get('set-cookie')).toBeNull()
      }
      const right = await signIn(server, { key: TEST_KEY })
      expect(right.status).toBe(429)
      expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0)
      // Programs are not kept from their work by it.
      expect((await server.request('/agent')).status).toBe(200)
    },
  )

  it('keeps out its own address alone, behind a proxy that is believed', async () => {
    const server = await startServer({ TRUST_PROXY: '1' })
    const from = (address: string, key: string) =>
      signIn(server, { key }, { ...own(server), 'x-forwarded-for': `192.0.2.1, ${address}` })
    for (let attempt = 0; attempt < 10; attempt += 1) await from('203.0.113.7', 'a-wrong-key')
    expect((await from('203.0.113.7', TEST_KEY)).status).toBe(429)
    expect((await from('203.0.113.8', TEST_KEY)).status).toBe(204)
  })

  it.each([[{}], [{ key: '' }], [{ key: TEST_KEY, token: 'both' }], [{ key: 7 }], [[]]])(
    'must be one: %j',
    async (body) => {
      expect((await signIn(server, body)).status).toBe(400)
    },
  )
})
