import { hideSecrets, neverShow, neverShowPassing } from '@agent-server/lib/secrets.ts'
import { pino } from 'pino'
import { expect, it } from 'vitest'

const SECRET = 'S3cr3t/with+odd "signs" & ünïcode=='
const WORD = 'sk-0123456789abcdefghijklmnop'
neverShow([SECRET, `Bearer ${WORD}`, undefined, 'short'])

const lower = (sign: string) => sign.toLowerCase()
const basic = (text: string) => Buffer.from(text).toString('base64')

it.each([
  ['as it is', SECRET],
  ['the word of a header', `authorization: ${WORD}`],
  ['in a URL', `https://host/path?token=${encodeURIComponent(SECRET)}`],
  ['in a form', new URLSearchParams({ token: SECRET }).toString()],
  ['in JSON', JSON.stringify({ token: SECRET })],
  ['in JSON within JSON', JSON.stringify({ body: JSON.stringify({ token: WORD }) })],
  ['with signs in JSON within JSON', JSON.stringify({ body: JSON.stringify({ token: SECRET }) })],
  ['in JSON of ASCII', JSON.stringify(SECRET).replace('ü', '\\u00fc').replace('ï', '\\u00ef')],
  ['in a URL within a URL', encodeURIComponent(`/next?token=${encodeURIComponent(SECRET)}`)],
  ['in a URL with small letters', encodeURIComponent(SECRET).replaceAll(/%../g, lower)],
  ['in a web page', `<p>${SECRET.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}</p>`],
  ['in Base64 of JSON', basic(JSON.stringify({ token: SECRET }))],
  ['in Base64 in a URL', encodeURIComponent(basic(`a:${SECRET}`))],
  ['as a buffer in JSON', JSON.stringify(Buffer.from(`(${SECRET})`))],
  ['as a printed buffer', (Buffer.from(SECRET).toString('hex').match(/../g) ?? []).join(' ')],
  ['in capital hexadecimal digits', Buffer.from(SECRET).toString('hex').toUpperCase()],
  ['in Base64', basic(SECRET)],
  ['in Base64 with one letter before it', basic(`:${WORD}`)],
  ['in Base64 between others', basic(`me:${WORD}, and more`)],
  ['in Base64 for URLs', Buffer.from(`user:${SECRET}`).toString('base64url')],
  ['in hexadecimal digits', Buffer.from(WORD).toString('hex')],
  ['cut off', `${WORD.slice(0, 20)}…`],
  ['cut off at the beginning', `…${WORD.slice(9)}`],
])('A secret is hidden %s', (_how, text) => {
  const shown = hideSecrets(`before ${text} after`)
  expect(shown).toMatch(/^before .*\[secret\].* after$/)
  for (const part of ['S3cr3t', 'ünïcode', WORD.slice(0, 14), WORD.slice(-14)]) {
    expect(shown).not.toContain(part)
    expect(shown).not.toContain(encodeURIComponent(part))
  }
})

it('A key, a session and a token are hidden that the server or an issuer gives out', () => {
  const session = `person.${'A'.repeat(43)}`
  const token = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl'
  for (const secret of [`ask_0123456789ab_${'A'.repeat(43)}`, session, token]) {
    expect(hideSecrets(`got ${secret}, and more`)).toBe('got [secret], and more')
  }
})

it('A long word without a point is shown, however often a token may begin in it', () => {
  const word = 'eyJ'.repeat(200_000)
  expect(hideSecrets(word)).toBe(word)
})

it('Other words are shown, and so is a value that is too short to be a secret', () => {
  expect(hideSecrets('short words, S3 and sk-')).toBe('short words, S3 and sk-')
})

it('Tokens that come and go push out neither a configured secret nor a token that is in use', () => {
  const tokenOf = (number: number) => `token-${number}`
  neverShowPassing('tk-in-use')
  for (const number of Array(600).keys()) {
    neverShowPassing(tokenOf(number))
    neverShowPassing('tk-in-use')
  }
  const newest = tokenOf(599)
  for (const secret of [WORD, 'tk-in-use', newest]) {
    expect(hideSecrets(`got ${secret}`)).toMatch(/^got .*\[secret\]$/)
  }
  expect(hideSecrets(tokenOf(10))).toBe(tokenOf(10))
})

it('A secret in the cause of a cause of an error is hidden in the log', () => {
  const lines: string[] = []
  const log = pino({}, { write: (line) => void lines.push(hideSecrets(line)) })
  const inner = new Error(`HTTP 401 for Bearer ${WORD}`)
  const cause = new Error('the server refused', { cause: inner })
  log.error({ err: new Error('calling a tool failed', { cause }) }, 'failed')
  expect(lines.join('')).toContain('calling a tool failed: the server refused: HTTP 401')
  expect(lines.join('')).not.toContain(WORD)
})
