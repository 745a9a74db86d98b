import { describe, expect, it } from 'vitest'
import { toSessionTarget } from '../../../src/agent/mcp/session.ts'
import { McpServers } from '../../../src/agent/mcp/settings.ts'

const TOKEN = `$\{TOKEN}`
const ENVIRONMENT = { TOKEN: 'secret\n', HOST: 'tools.example' }

function targetOf(server: object) {
  const { one } = McpServers.parse({ one: server })
  if (!one) throw new Error('There are no settings')
  return toSessionTarget(one, ENVIRONMENT, fetchNothing)
}

const fetchNothing = () => Promise.reject(new Error('Nothing is fetched'))

describe('where a connection goes', () => {
  it.each<[string | undefined, string[]]>([
    [undefined, ['streamable-http', 'sse']],
    ['http', ['streamable-http']],
    ['streamable-http', ['streamable-http']],
    ['sse', ['sse']],
  ])('is by the transports of the type %s', (type, transports) => {
    expect(targetOf({ url: 'https://a.org/mcp', type }).transports).toEqual(transports)
  })

  it('has its variables filled in, without the line end that files leave', () => {
    const target = targetOf({
      url: `https://$\{HOST}/mcp`,
      headers: { Authorization: `Bearer ${TOKEN}`, 'X-Region': 'eu' },
    })
    expect(target.url.href).toBe('https://tools.example/mcp')
    expect(target.headers).toEqual({ Authorization: 'Bearer secret', 'X-Region': 'eu' })
  })

  it('has client credentials where there are some', () => {
    const oauth = { clientId: 'me', clientSecret: TOKEN, scope: 'tools' }
    expect(targetOf({ url: 'https://a.org', oauth }).oauth).toMatchObject({
      clientId: 'me',
      clientSecret: 'secret\n',
      scope: 'tools',
    })
    expect(targetOf({ url: 'https://a.org' }).oauth).toBeUndefined()
  })

  it.each([
    ['the URL', { url: `https://$\{MISSING}/mcp` }],
    ['a header', { url: 'https://a.org', headers: { 'X-Key': `$\{MISSING}` } }],
  ])('is nowhere where a variable of %s is missing', (_case, server) => {
    expect(() => targetOf(server)).toThrow('The variable MISSING is not set')
  })
})
