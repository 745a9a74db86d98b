import OpenAI, { NotFoundError } from 'openai'
import { expect, it } from 'vitest'
import { failureOf } from '../support/failure.ts'
import { startServer, TEST_KEY } from '../support/server.ts'

const server = await startServer()
const client = new OpenAI({ baseURL: `${server.url}/openai/v1`, apiKey: TEST_KEY, maxRetries: 0 })
const file = new File(['RIFF'], 'talk.wav')

it.each<[string, () => Promise<unknown>, RegExp]>([
  [
    '/v1/responses/compact',
    () => client.responses.compact({ model: 'gpt-5.1', input: 'Owls' }),
    /Send the conversation as it is/,
  ],
  ['/v1/moderations', () => client.moderations.create({ input: 'Owls' }), /model’s provider/],
  [
    '/v1/images/generations',
    () => client.images.generate({ prompt: 'An owl' }),
    /Use \/v1\/chat\/completions/,
  ],
  [
    '/v1/audio/transcriptions',
    () => client.audio.transcriptions.create({ model: 'whisper-1', file }),
    /Send the transcript to \/v1\/files/,
  ],
  [
    '/v1/audio/speech',
    () => client.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'Owls' }),
    /Use \/v1\/chat\/completions/,
  ],
  ['/v1/assistants', async () => client.beta.assistants.list(), /Use \/v1\/responses/],
  ['/v1/threads', () => client.beta.threads.create(), /Use \/v1\/conversations/],
  [
    '/v1/threads/thread_1/messages',
    async () => client.beta.threads.messages.list('thread_1'),
    /Use \/v1\/conversations/,
  ],
  ['/v1/batches', async () => client.batches.list(), /Use \/v1\/chat\/completions/],
  ['/v1/fine_tuning/jobs', async () => client.fineTuning.jobs.list(), /Use \/v1\/files/],
  [
    '/v1/realtime/client_secrets',
    () => client.realtime.clientSecrets.create({}),
    /Use \/v1\/responses with `stream`/,
  ],
  ['/v1/uploads/upload_1/cancel', () => client.uploads.cancel('upload_1'), /Use \/v1\/files/],
])('%s is refused by its name, and by what takes its place', async (path, ask, instead) => {
  const refused = ask()
  await expect(refused).rejects.toBeInstanceOf(NotFoundError)
  await expect(refused).rejects.toMatchObject({
    code: 'route_not_found',
    type: 'invalid_request_error',
    message: expect.stringContaining(`${path} is not supported. `),
  })
  await expect(refused).rejects.toThrow(instead)
})

it.each(['/v1/messages/batches', '/v1/messages/batches/batch_1', '/v1/complete'])(
  '%s is refused in Anthropic’s shape, also with its own header of the key',
  async (path) => {
    const headers = { 'x-api-key': TEST_KEY, 'content-type': 'application/json' }
    const response = await fetch(server.url + path, { method: 'POST', headers, body: '{}' })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: {
        type: 'not_found_error',
        code: 'route_not_found',
        message: `${path} is not supported. Use /v1/messages.`,
      },
    })
  },
)

it.each([
  ['/chat/completions', '/v1/chat/completions'],
  ['/openai/responses', '/v1/responses'],
  ['/v1/v1/messages', '/v1/messages'],
  ['/openai/v1/query', '/query'],
])('%s, below a wrong base URL, is told to be %s', async (path, meant) => {
  const { status, message } = await failureOf(await server.request(path, { method: 'POST' }))
  expect(status).toBe(404)
  expect(message).toMatch(
    new RegExp(`^No route POST .+, but there is ${meant}\\. Check the client’s`),
  )
})

it('An unknown path is told as such, and a stranger is told nothing', async () => {
  expect((await failureOf(await server.request('/v1/unheard'))).message).toContain('No route')
  expect((await fetch(`${server.url}/v1/moderations`)).status).toBe(401)
  expect((await fetch(`${server.url}/v1/complete`)).status).toBe(401)
})
