import { describe, expect, it } from 'vitest'
import { McpServers } from '../../../src/agent/mcp/settings.ts'

const TOKEN = `$\{TOKEN}`
const mistakes = (server: object, name = 'one') =>
  McpServers.safeParse({ [name]: server }).error?.issues.map(
    ({ path, message }) => `${path.join('.')}: ${message}`,
  ) ?? []

describe('the settings of a connection', () => {
  it('need no more than a URL', () => {
    expect(McpServers.parse({ one: { url: 'https://example.org/mcp' } })).toEqual({
      one: {
        url: 'https://example.org/mcp',
        headers: {},
        enabled: true,
        timeout: 60,
        listTimeout: 10,
      },
    })
  })

  it.each<[string, object]>([
    [
      'as editors write them',
      { type: 'http', url: 'https://a.org', headers: { Authorization: `Bearer ${TOKEN}` } },
    ],
    ['for SSE', { type: 'sse', url: 'https://a.org/sse' }],
    ['with a variable in the URL', { url: `https://a.org/${TOKEN}/mcp` }],
    ['with a variable for the host', { url: `http://${TOKEN}:8080/mcp` }],
    [
      'with client credentials',
      { url: 'https://a.org', oauth: { clientId: 'me', clientSecret: TOKEN } },
    ],
    ['with a plain header', { url: 'https://a.org', headers: { 'X-Region': 'eu' } }],
    ['with some tools', { url: 'https://a.org', allowTools: ['read'] }],
  ])('are taken %s', (_case, server) => {
    expect(mistakes(server)).toEqual([])
  })

  it.each<[string, object, RegExp]>([
    ['no URL', {}, /^one\.url: /],
    ['a URL of another kind', { url: 'file:///etc/passwd' }, /^one\.url: must be a URL/],
    ['a password in the URL', { url: 'https://me:secret@a.org' }, /^one\.url: .*without a user/],
    [
      'a secret in a header',
      { url: 'https://a.org', headers: { Authorization: 'Bearer abc' } },
      /^one\.headers\.Authorization: must come from/,
    ],
    [
      'a key in a header',
      { url: 'https://a.org', headers: { 'x-api-key': 'abc' } },
      /^one\.headers\.x-api-key: must come from/,
    ],
    [
      'a client secret',
      { url: 'https://a.org', oauth: { clientId: 'me', clientSecret: 'abc' } },
      /^one\.oauth\.clientSecret: must come from/,
    ],
    [
      'a bad header name',
      { url: 'https://a.org', headers: { 'a b': 'c' } },
      /^one\.headers\.a b: /,
    ],
    [
      'a program to run',
      { url: 'https://a.org', command: 'npx' },
      /^one\.command: is not supported/,
    ],
    ['an unknown field', { url: 'https://a.org', colour: 'red' }, /colour/],
    ['no time', { url: 'https://a.org', timeout: 0 }, /^one\.timeout: /],
  ])('are refused with %s', (_case, server, message) => {
    expect(mistakes(server)).toContainEqual(expect.stringMatching(message))
  })

  it.each(['a__b', '_a', 'a_', 'a b', 'a.b', '', 'a'.repeat(33)])(
    'are refused under the name %j, which could be mistaken for another’s tool',
    (name) => {
      expect(mistakes({ url: 'https://a.org' }, name)).not.toEqual([])
    },
  )
})
