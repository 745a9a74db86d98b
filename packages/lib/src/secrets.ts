/** Shorter values may be words that occur anywhere. */
const MIN_SECRET = 8
/** From this length on, each half of a secret is hidden by itself, too: a message may have been cut. */
const MIN_HALVED = 20
/** How many temporary secrets are remembered: the newest. */
const MAX_PASSING = 500
const HIDDEN = '[secret]'
/**
 * The keys that the server issues, the sessions of people, and the tokens of issuers, which are JSON in Base64. These have
 * points, but the expression does not ask for one: it would read a long word again from each `eyJ` in it.
 */
const ISSUED =
  /ask_(?:oauth)?[0-9a-f]{12}_[\w-]{43}|person\.[\w-]{43}|eyJ[\w-]{10,}(?:\.[\w-]*){0,4}/g
const NO_TOKEN = /^eyJ[^.]*$/

/** How each secret may be written, the whole ones first. Those of the configuration, which stay, are as many as it has. */
const lasting = new Map<string, readonly string[]>()
const passing = new Map<string, readonly string[]>()

/** From now on the log of this process does not show these values; of a header, its words. */
export function neverShow(values: readonly (string | undefined)[]): void {
  for (const secret of values.flatMap((value) => [value ?? '', ...(value ?? '').split(/\s+/)])) {
    if (secret.length < MIN_SECRET || lasting.has(secret)) continue
    lasting.set(secret, formsOf(secret))
  }
}

/** The same for a secret that others come after, such as an access token: the one that was used longest ago makes room. */
export function neverShowPassing(secret: string): void {
  if (secret.length < MIN_SECRET || lasting.has(secret)) return
  const forms = passing.get(secret) ?? formsOf(secret)
  passing.delete(secret)
  passing.set(secret, forms)
  const [oldest = ''] = passing.keys()
  if (passing.size > MAX_PASSING) passing.delete(oldest)
}

/** The text without any of the secrets, however they are encoded in it. */
export function hideSecrets(text: string): string {
  let shown = text.replaceAll(ISSUED, (found) => (NO_TOKEN.test(found) ? found : HIDDEN))
  for (const forms of [...lasting.values(), ...passing.values()]) {
    for (const form of forms) if (shown.includes(form)) shown = shown.replaceAll(form, HIDDEN)
  }
  return shown
}

/** As itself, and as texts within other texts have it: in JSON, in a URL, in a form, in a web page. */
const WRITINGS: readonly ((text: string) => string)[] = [
  (text) => text,
  inJson,
  (text) => inJson(text).replaceAll(/[^ -~]/g, (sign) => `\\u${hexOf(sign.charCodeAt(0), 4)}`),
  encodeURIComponent,
  (text) => encodeURIComponent(text).replaceAll(/%../g, (sign) => sign.toLowerCase()),
  (text) => new URLSearchParams([['', text]]).toString().slice(1),
  (text) => text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign),
]
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

const hexOf = (code: number, digits: number) => code.toString(16).padStart(digits, '0')

function formsOf(value: string): string[] {
  // A header or a URL may have half a sign, which a URL cannot.
  const secret = value.toWellFormed()
  const once = WRITINGS.map((write) => write(secret))
  const twice = once.flatMap((text) => WRITINGS.map((write) => write(text)))
  const middle = Math.ceil(secret.length / 2)
  const halves = secret.length < MIN_HALVED ? [] : [secret.slice(0, middle), secret.slice(middle)]
  const bytes = Buffer.from(secret)
  return [
    ...new Set([
      ...twice,
      ...once.flatMap((text) => [0, 1, 2].flatMap((offset) => encodedAt(text, offset))),
      bytes.toString('hex'),
      bytes.toString('hex').toUpperCase(),
      bytes.join(),
      Array.from(bytes, (byte) => hexOf(byte, 2)).join(' '),
      ...halves.flatMap((half) => WRITINGS.map((write) => write(half))),
    ]),
  ]
}

/** What is the same of its Base64, whatever stands before and after it. */
function encodedAt(secret: string, offset: number): string[] {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)])
  const [start, end] = [Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6)]
  return (['base64', 'base64url'] as const).flatMap((encoding) => {
    const text = bytes.toString(encoding).slice(start, end)
    return [text, encodeURIComponent(text)]
  })
}
