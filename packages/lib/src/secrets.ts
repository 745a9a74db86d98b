/** Shorter values may be words that occur anywhere. */
const MIN_SECRET = 8
/** Of a longer secret, each half is hidden by itself, too: a message may have been cut. */
const MIN_HALVED = 20
/** Secrets that are remembered, the newest. */
const MAX_SECRETS = 500
const HIDDEN = '[secret]'
/** The keys that the server issues. */
const ISSUED_KEY = /ask_(?:oauth)?[0-9a-f]{12}_[\w-]{43}/g

/** How each secret may be written, the whole ones first. */
const formsBySecret = new Map<string, readonly string[]>()

/** From now on the log of this process does not show these values; of a header, its words. */
export function neverShow(values: readonly (string | undefined)[]): void {
  for (const secret of values.flatMap((value) => [value ?? '', ...(value ?? '').split(/\s+/)])) {
    if (secret.length < MIN_SECRET || formsBySecret.has(secret)) continue
    formsBySecret.set(secret, formsOf(secret))
    const [oldest = ''] = formsBySecret.keys()
    if (formsBySecret.size > MAX_SECRETS) formsBySecret.delete(oldest)
  }
}

/** The text without any of the secrets, however they are encoded in it. */
export function hideSecrets(text: string): string {
  let shown = text.replaceAll(ISSUED_KEY, HIDDEN)
  for (const forms of formsBySecret.values()) {
    for (const form of forms) if (shown.includes(form)) shown = shown.replaceAll(form, HIDDEN)
  }
  return shown
}

function formsOf(secret: string): string[] {
  const middle = Math.ceil(secret.length / 2)
  const halves = secret.length < MIN_HALVED ? [] : [secret.slice(0, middle), secret.slice(middle)]
  const forms = [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams([['', secret]]).toString().slice(1),
    ...[0, 1, 2].flatMap((offset) => encodedAt(secret, offset)),
    Buffer.from(secret).toString('hex'),
    ...halves,
  ]
  const asJson = forms.map((form) => JSON.stringify(form).slice(1, -1))
  return [...new Set([...forms, ...asJson])]
}

/** What is the same of its Base64, whatever stands before and after it. */
function encodedAt(secret: string, offset: number): string[] {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)])
  const [start, end] = [Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6)]
  return (['base64', 'base64url'] as const).map((encoding) =>
    bytes.toString(encoding).slice(start, end),
  )
}
