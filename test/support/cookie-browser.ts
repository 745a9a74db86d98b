/** As much of a browser as sign-in needs: cookies by host, and redirects one at a time. */
export interface CookieBrowser {
  /** One request, without following where it leads. */
  visit(url: string, init?: RequestInit): Promise<Response>
  /** Follows redirects until a page comes, or until the next one is at `stop`. */
  follow(url: string, stop?: string): Promise<{ response: Response; url: string }>
  /** As one of the web UI's own requests. */
  ask(url: string, init?: RequestInit): Promise<Response>
  cookies: Map<string, Map<string, string>>
}

const MAX_REDIRECTS = 12

export function openCookieBrowser(): CookieBrowser {
  const cookies = new Map<string, Map<string, string>>()
  const jarOf = (url: string) => {
    const { host } = new URL(url)
    const jar = cookies.get(host) ?? new Map<string, string>()
    cookies.set(host, jar)
    return jar
  }

  const visit = async (url: string, init: RequestInit = {}) => {
    const jar = jarOf(url)
    const headers = new Headers(init.headers)
    headers.set('cookie', Array.from(jar, ([name, value]) => `${name}=${value}`).join('; '))
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';')
      const [name = '', value = ''] = pair.split(/=(.*)/s)
      if (value === '' || /max-age=0(?:;|$)|expires=thu, 01 jan 1970/i.test(cookie))
        jar.delete(name)
      else jar.set(name, value)
    }
    return response
  }

  return {
    cookies,
    visit,
    async follow(first, stop) {
      let url = first
      for (let step = 0; step < MAX_REDIRECTS; step += 1) {
        const response = await visit(url)
        const location = response.headers.get('location')
        if (!location) return { response, url }
        url = new URL(location, url).href
        if (stop !== undefined && url.startsWith(stop)) return { response, url }
      }
      throw new Error(`More than ${MAX_REDIRECTS} redirects`)
    },
    ask: (url, init = {}) =>
      visit(url, {
        ...init,
        headers: {
          'sec-fetch-site': 'same-origin',
          'x-agent-server-web-ui': '1',
          ...(init.body !== undefined && { 'content-type': 'application/json' }),
        },
      }),
  }
}

/** Signs in at the issuer's pages as `login`; returns the address of the server to which they lead back. */
export async function signInAtIssuer(
  { visit, follow }: Pick<CookieBrowser, 'visit' | 'follow'>,
  { from, back, login }: { from: string; back: string; login: string },
): Promise<string> {
  let { response, url } = await follow(from, back)
  for (let page = 0; page < 4 && !url.startsWith(back); page += 1) {
    const text = await response.text()
    const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1]
    if (prompt === undefined) throw new Error(`No form of the issuer: ${text.slice(-600)}`)
    const body = new URLSearchParams({ prompt, login, password: 'any' })
    const sent = await visit(url, { method: 'POST', body })
    const next = new URL(sent.headers.get('location') ?? '', url).href
    ;({ response, url } = next.startsWith(back)
      ? { response: sent, url: next }
      : await follow(next, back))
  }
  return url
}
