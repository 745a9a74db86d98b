import { hash } from 'node:crypto'
import type { Parameters } from './oauth.ts'

/** The colours and measures of the web UI, which may be switched off. */
const STYLE = `
:root{color-scheme:light dark;--line:light-dark(#dfdbd3,#303533);--ink:light-dark(#1d201f,#e9e8e4);--accent:light-dark(#14605c,#6fc7bf)}
*{box-sizing:border-box}
body{margin:0;background:light-dark(#faf9f7,#151716);color:var(--ink);font:.9375rem/1.5 system-ui,sans-serif}
main{max-width:26rem;margin:0 auto;padding:3rem 1rem}
h1{font-size:1.5rem;overflow-wrap:anywhere}
.panel{display:grid;gap:1rem;padding:1.5rem;border:1px solid var(--line);border-radius:.5rem;background:light-dark(#fff,#1c1f1e)}
p,ul{margin:0;overflow-wrap:anywhere}ul{padding-left:1.25rem}
label{display:grid;gap:.25rem;font-weight:600}
input{font:inherit;padding:.5rem .75rem;border:1px solid light-dark(#857f74,#7f8683);border-radius:.5rem;background:transparent;color:inherit}
.buttons{display:flex;gap:.75rem;flex-wrap:wrap}
button{font:inherit;font-weight:600;padding:.5rem 1rem;border:1px solid var(--accent);border-radius:.5rem;background:transparent;color:var(--accent);cursor:pointer}
button.primary{background:var(--accent);color:light-dark(#fff,#0b2422)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.alert{color:light-dark(#a0361c,#f29d85)}`

/** Nothing but the style and the form runs; the form may lead to this server and, by it, to the client. */
export function pageHeaders(formTarget?: URL): Record<string, string> {
  const isNamed = formTarget && formTarget.hostname !== '[::1]'
  const target = isNamed ? formTarget.origin : (formTarget?.protocol ?? '')
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': [
      "default-src 'none'",
      `style-src 'sha256-${hash('sha256', STYLE, 'base64')}'`,
      `form-action ${formTarget ? `'self' ${target}` : "'none'"}`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join(';'),
    'x-frame-options': 'DENY',
    'cache-control': 'no-store',
  }
}

const SCOPES = { query: 'search and read documents', chat: 'ask the agent' }

interface Consent {
  name: string
  /** Host of the document about the program, if that is its id. */
  host: string | undefined
  redirect: URL
  scopes: readonly (keyof typeof SCOPES)[]
  parameters: Parameters
  failure: string | undefined
}

export function consentPage({
  name,
  host,
  redirect,
  scopes,
  parameters,
  failure,
}: Consent): string {
  const fields = Object.entries(parameters).map(
    ([key, value]) => `<input type="hidden" name="${escaped(key)}" value="${escaped(value)}">`,
  )
  const items = scopes.map((scope) => `<li>${SCOPES[scope]} (<code>${scope}</code>)</li>`)
  const described = host === undefined ? '' : `, as <strong>${escaped(host)}</strong> describes it,`
  return page(`<h1>Allow access?</h1>
<form class="panel" method="post" action="/oauth/authorize">
${fields.join('\n')}
<p>A program that calls itself <strong>${escaped(name)}</strong>${described} wants to:</p>
<ul>${items.join('')}</ul>
<p>The answer goes to <strong>${escaped(redirect.host)}</strong>. Allow this only if you have just started to connect that program.</p>
<label>Key<input type="password" name="key" autocomplete="current-password" maxlength="1000" autofocus></label>
<p>A key of this server. The program gets a key of its own, which can do no more than yours and is listed with the keys.</p>
${failure === undefined ? '' : `<p class="alert" role="alert">${escaped(failure)}</p>`}
<div class="buttons"><button class="primary" name="decision" value="allow">Allow</button>
<button name="decision" value="deny">Deny</button></div>
</form>`)
}

export const refusalPage = (message: string): string =>
  page(`<h1>No access</h1><p class="panel" role="alert">${escaped(message)}</p>`)

const page = (body: string) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Agent Server</title><style>${STYLE}</style></head><body><main>
${body}
</main></body></html>`

const escaped = (text: string) =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
