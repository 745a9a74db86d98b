import { inspect } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Script } from '../../../../test/support/scripted-upstream.ts'
import {
  cutReply,
  errorReply,
  event,
  jsonReply,
  rawReply,
  streamReply,
  textReply,
} from '../../../../test/support/upstream-replies.ts'
import { PROTOCOLS } from '../../src/protocols.ts'
import { createUpstreamModel } from '../../src/upstream/chat.ts'
import { API_KEY, startModel } from './model-for-test.ts'

afterEach(() => vi.unstubAllEnvs())

describe('the key', () => {
  it.each<[string, Script]>([
    ['a refused key', errorReply(401, `Incorrect API key provided: ${API_KEY}`)],
    ['a refused request', errorReply(400, `Bad header: Authorization: Bearer ${API_KEY}`)],
    [
      'a refused request, as text',
      { status: 400, headers: {}, steps: [{ send: `no: ${API_KEY}` }] },
    ],
    ['a failure', errorReply(500, `key ${API_KEY} crashed`, { 'x-should-retry': 'false' })],
    ['a failure that is tried again', errorReply(503, API_KEY, { 'retry-after-ms': '1' })],
    ['a failure inside the stream', streamReply(event({ error: { message: API_KEY, code: 400 } }))],
    ['an unreadable answer', rawReply(`data: ${API_KEY}\n\n`)],
    ['a whole answer of another kind', jsonReply({ error: `no such thing: ${API_KEY}` })],
    ['a refused parameter', errorReply(400, `${API_KEY} may not use stream_options`)],
  ])('is in no message, cause or log after %s', async (_case, script) => {
    const { upstream, ask, logged } = await startModel()
    upstream.always(script)
    const error = await ask().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'AppError' })
    const seen = inspect([error, logged], { depth: 20, showHidden: true })
    expect(seen).not.toContain(API_KEY)
    expect(seen).not.toContain('Bearer')
  })

  it('is in no message after a dead socket', async () => {
    const { upstream, ask, logged } = await startModel()
    upstream.always(cutReply())
    const error = await ask().catch((thrown: unknown) => thrown)
    expect(inspect([error, logged], { depth: 20, showHidden: true })).not.toContain(API_KEY)
  })

  it.each([
    ['sk-proj-Ab12****************wxyz'],
    ['https://user:pass@10.0.0.7/internal'],
    ['org-AbCdEfGhIjKl'],
    ['sk-\u200bAb12cd34Ef56'],
  ])('of others, and addresses, are taken out of what a caller sees: %s', async (secret) => {
    const { upstream, ask } = await startModel()
    upstream.script(errorReply(400, `Bad value ${secret} given`))
    const error = await ask().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      message: 'The chat model refused the request: Bad value [hidden] given',
    })
    expect(inspect(error, { depth: 20 })).not.toContain(secret)
    expect(inspect(error, { depth: 20 })).not.toContain('Ab12cd34')
  })

  it.each([['with\nnewline'], ['with space'], ['naïve'], ['']])(
    '%j is refused at the start, unnamed',
    (apiKey) => {
      const create = () =>
        createUpstreamModel(
          {
            apiKey,
            model: 'm',
            api: 'auto',
            baseUrl: 'http://127.0.0.1:9/v1',
            idleTimeoutMs: 1,
          },
          PROTOCOLS,
        )
      expect(create).toThrow('The API key does not fit into a header')
    },
  )
})

describe('the environment', () => {
  it('adds nothing to the request', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'environment-key')
    vi.stubEnv('OPENAI_ADMIN_KEY', 'environment-admin')
    vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:9/environment')
    vi.stubEnv('OPENAI_ORG_ID', 'environment-organization')
    vi.stubEnv('OPENAI_PROJECT_ID', 'environment-project')
    vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'authorization: environment\nx-custom: environment')
    vi.stubEnv('OPENAI_LOG', 'debug')
    const printed = vi.spyOn(console, 'debug').mockReturnValue()
    const { upstream, ask } = await startModel()
    upstream.script(textReply('At nine'))
    await ask()
    const [request] = upstream.requests
    expect(request?.path).toBe('/v1/chat/completions')
    expect(request?.headers.authorization).toBe(`Bearer ${API_KEY}`)
    expect(JSON.stringify(request?.headers)).not.toContain('environment')
    expect(JSON.stringify(request?.headers)).not.toContain('stainless')
    expect(printed).not.toHaveBeenCalled()
  })
})
