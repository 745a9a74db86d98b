import { isObject } from '@agent-server/lib/text/json.ts'
import { expect, it } from 'vitest'
import { AgentServer } from '../../packages/client/src/agent-server.ts'
import { startServer } from '../support/server.ts'

/** What the clients leave to others, as method and path. The tests of the Python client compare its methods with these. */
const LEFT_OUT: [RegExp, string][] = [
  [
    /^\w+ \/v1\/(?!conversations)/,
    'the protocols of OpenAI and Anthropic have clients of their own',
  ],
  [/^\w+ \/api\/(?!oikb)/, 'Ollama has a client of its own'],
  [/oikb|\/api\/v1\/knowledge/, 'the program oikb calls it'],
  [/^POST \/mcp$/, 'every MCP client calls it'],
  [/^(?:POST \S+|(?:GET|DELETE) \S+\{\w+\})\/items(?:\/|$)/, 'OpenAI’s client has them'],
  [/^GET \/\S+\/export$/, 'a file to download; the lists have the same'],
  [/^POST \/agent\/chat$/, 'another address of POST /chat'],
]

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

interface Operation {
  /** Its method and path, as in the contract. */
  name: string
  path: RegExp
}

async function operations(): Promise<Operation[]> {
  const { url } = await startServer()
  const { paths } = Object(await (await fetch(`${url}/openapi.json`)).json())
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(Object(item))
      .filter((method) => METHODS.includes(method))
      .map((method) => {
        const name = `${method.toUpperCase()} ${path}`
        return { name, path: new RegExp(`^${name.replaceAll(/\{\w+\}/g, '[^/]+')}$`) }
      }),
  )
}

const FILE = new Blob(['text'])
/** What methods take, one of which fits. */
const ARGUMENTS: unknown[][] = [
  ['a', 'b', 'c'],
  ['a', { id: 'b' }],
  [{ id: 'a', text: 'b' }],
  [[{ file: FILE, name: 'a.txt', id: 'b' }]],
  [FILE],
]

/** Calls every method of the client. */
async function requestsOf(client: AgentServer): Promise<void> {
  const settle = async (result: unknown) => {
    if (isObject(result) && Symbol.asyncIterator in result) {
      const each = result as unknown as AsyncIterable<unknown>
      for await (const _item of each) break
    } else await result
  }
  const visit = async (part: object): Promise<void> => {
    const prototype = Object.getPrototypeOf(part)
    const inherited = prototype === Object.prototype ? [] : Object.getOwnPropertyNames(prototype)
    for (const name of [...inherited, ...Object.keys(part)]) {
      const member: unknown = Reflect.get(part, name)
      if (isObject(member)) await visit(member)
      if (name === 'constructor' || typeof member !== 'function') continue
      const calls = ARGUMENTS.map(async (given) => settle(await Reflect.apply(member, part, given)))
      await Promise.allSettled(calls)
    }
  }
  await visit(client)
}

it('Every operation of the contract is a method of the clients, or is left out for a reason', async () => {
  const sent = new Set<string>()
  const client = new AgentServer({
    baseURL: 'http://127.0.0.1:1',
    apiKey: 'key',
    maxRetries: 0,
    warnings: false,
    fetch: async (url, { method = 'GET' } = {}) => {
      sent.add(`${method} ${new URL(url).pathname}`)
      return new Response('{}', { status: 400 })
    },
  })
  await requestsOf(client)
  expect(sent.size).toBeGreaterThan(50)
  const missing = (await operations())
    .filter(({ path }) => ![...sent].some((request) => path.test(request)))
    .map(({ name }) => name)
  const isLeftOut = (name: string) => LEFT_OUT.some(([kind]) => kind.test(name))
  expect(missing.filter((name) => !isLeftOut(name))).toEqual([])
  for (const [kind, reason] of LEFT_OUT) {
    expect(
      missing.some((name) => kind.test(name)),
      `left out, although ${reason}`,
    ).toBe(true)
  }
})
