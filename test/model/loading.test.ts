import { expect, it } from 'vitest'
import { ask } from '../support/chat-reader.ts'
import { isShort, startLlamaServer } from '../support/model/llama-server.ts'
import { modelAt, startServer } from '../support/server.ts'
import { freePort } from '../support/server-process.ts'

it.skipIf(isShort)(
  'waits for a model’s server that is still loading (needs the long form)',
  async () => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}/v1`
    const server = await startServer(modelAt({ url }, { SERVER_MODE: 'knowledge' }))
    await server.ingest({ title: 'Library', text: 'The library opens at nine.' })
    const llama = await startLlamaServer({
      weights: 'qwen',
      port,
      until: 'listening',
      more: ['--load-mode', 'none'],
    })
    expect(await llama.health(), 'loaded before anything could be asked').toBe(503)
    const { error, answer } = await ask(server, 'When does the library open?')
    expect(error).toBeUndefined()
    expect(answer.trim()).not.toBe('')
  },
)
