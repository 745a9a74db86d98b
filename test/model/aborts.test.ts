import { beforeAll, describe, expect, it } from 'vitest'
import { readChat } from '../support/chat-reader.ts'
import { readBlocks } from '../support/event-stream-reader.ts'
import { type LlamaServer, startLlamaServer } from '../support/model/llama-server.ts'
import { type ModelRecorder, startModelRecorder } from '../support/model/model-recorder.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'

const LONG = 'Write a very long story about a lighthouse keeper, with every detail of his days.'

/** From the client's leaving until the model's server is told; it looks for that between two batches. */
const TOLD_MS = { timeout: 1_000, interval: 20 }
const FREE_MS = { timeout: 60_000 }

let llama: LlamaServer
let recorder: ModelRecorder
let server: TestServer

beforeAll(async () => {
  llama = await startLlamaServer()
  recorder = await startModelRecorder(llama)
  server = await startServer(modelAt(recorder))
  await server.ingest({ title: 'Lighthouse', text: 'The lighthouse keeper lights the lamp.' })
  return async () => {
    await server.close()
    recorder.close()
    await llama.kill()
  }
})

/** Asks for a long answer; resolves once text of it has come. */
async function begin(signal?: AbortSignal): Promise<Response> {
  const body = { messages: [{ role: 'user', content: LONG }] }
  return server.request('/chat', { body, ...(signal && { signal }) })
}

describe('A client that leaves', () => {
  it('disconnects from the model within a second', async () => {
    const leaving = new AbortController()
    const response = await begin(leaving.signal)
    for await (const { data } of readBlocks(response)) if (data.includes('text-delta')) break
    // The reader may have ended the stream by itself, which is the same to the server.
    leaving.abort()
    await expect.poll(() => recorder.open, TOLD_MS).toBe(0)
    await expect.poll(() => llama.isBusy(), FREE_MS).toBe(false)
  })

  it('disconnects from a model that still reads the prompt', async () => {
    const leaving = new AbortController()
    const asked = begin(leaving.signal).catch(() => undefined)
    await expect.poll(() => llama.isBusy(), { interval: 5 }).toBe(true)
    leaving.abort()
    await asked
    await expect.poll(() => recorder.open, TOLD_MS).toBe(0)
    await expect.poll(() => llama.isBusy(), FREE_MS).toBe(false)
  })
})

describe('A model’s server that is killed', () => {
  it('ends the stream in exactly one error frame', async () => {
    const response = await begin()
    const [watched, read] = response.body?.tee() ?? []
    const chat = readChat(new Response(read))
    for await (const { data } of readBlocks(new Response(watched))) {
      if (!data.includes('text-delta')) continue
      await llama.kill()
      break
    }
    const { frames, done } = await chat
    const errors = frames.filter(({ frame }) => frame.type === 'error')
    expect(errors).toHaveLength(1)
    expect(frames.at(-1)).toBe(errors[0])
    expect(done).toBeUndefined()
  })
})
