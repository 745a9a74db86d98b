import axios, { AxiosError } from 'axios'
import { beforeEach, describe, expect, it } from 'vitest'
import { Completion } from '../../../src/dialects/completions/answer-schema.ts'
import { TEST_KEY } from '../../support/server.ts'
import { errorReply, textReply } from '../../support/upstream-replies.ts'
import { QUESTION, startOneServer } from './one-server.ts'

const { url, baseURL, upstream } = await startOneServer()

beforeEach(() => upstream.always(textReply('At ten [1].')))

const headers = { authorization: `Bearer ${TEST_KEY}` }
const body = { messages: [{ role: 'user', content: QUESTION }] }
const textOf = (answer: unknown) => Completion.parse(answer).choices[0]?.message.content

describe('A completion that does not say whether to stream', () => {
  it.each([`${url}/v1`, baseURL])('is JSON to axios at %s', async (base) => {
    const { data } = await axios.post(`${base}/chat/completions`, body, { headers })
    expect(textOf(data)).toBe('At ten [1].')
  })

  const fetched = (base: string, more: Record<string, string> = {}) =>
    fetch(`${base}/chat/completions`, {
      method: 'POST',
      headers: { ...headers, ...more, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  it('is JSON to fetch() below /openai/v1, and a stream below /v1', async () => {
    expect(textOf(await (await fetched(baseURL)).json())).toBe('At ten [1].')
    const stream = await fetched(`${url}/v1`)
    expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream/)
    await stream.text()
  })

  it.each([
    ['application/json;q=1, text/event-stream;q=0.5', /^application\/json/],
    ['text/event-stream, application/json', /^text\/event-stream/],
    ['application/json;q=0.5, text/event-stream', /^text\/event-stream/],
  ])('is below /v1 what Accept: %s prefers', async (accept, type) => {
    const response = await fetched(`${url}/v1`, { accept })
    expect(response.headers.get('content-type')).toMatch(type)
    await response.text()
  })
})

it('The limit of the model is a 429 to axios', async () => {
  upstream.always(errorReply(429, 'slow down', { 'retry-after': '7' }))
  const asked = axios.post(`${baseURL}/chat/completions`, body, { headers })
  await expect(asked).rejects.toBeInstanceOf(AxiosError)
  await expect(asked).rejects.toMatchObject({
    response: { status: 429, headers: { 'retry-after': '7' } },
  })
})
