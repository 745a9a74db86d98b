import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { ChatFrame, ChatRequest } from '../../../src/schemas/chat.ts'
import { askAgent, readDocument } from '../../../src/services/mcp/server.ts'
import { hitOf } from '../agent/hit.ts'

const { signal } = new AbortController()
const delta = (text: string): ChatFrame => ({ type: 'text-delta', text })
const done = (more: object = {}): ChatFrame => ({
  ...{ type: 'done', hits: [], finishReason: 'stop' },
  ...more,
})

async function ask(frames: readonly ChatFrame[], milliseconds = 0) {
  const requests: ChatRequest[] = []
  const told: number[] = []
  const chat = {
    async *frames(request: ChatRequest) {
      requests.push(request)
      for (const frame of frames) {
        await pause(milliseconds)
        yield [frame]
      }
    },
  }
  const tell = async (progress: number) => void told.push(progress)
  const answer = await askAgent(chat, { question: 'When?', topK: 3 }, tell, signal)
  return { answer, requests, told }
}

describe('an answer of the agent', () => {
  it('is its text, then the sources that the numbers stand for', async () => {
    const hits = [
      { ...hitOf('a'), url: 'https://a.org' },
      { ...hitOf('b'), title: '' },
    ]
    const { answer, requests } = await ask([delta('At '), delta('ten. [1]'), done({ hits })])
    expect(answer).toBe(
      'At ten. [1]\n\nSources:\n[1] Title of a, https://a.org, document doc_a\n[2] document doc_b',
    )
    expect(requests).toMatchObject([{ topK: 3, messages: [{ role: 'user', content: 'When?' }] }])
  })

  it('names the files that tools made', async () => {
    const file = { name: 'a.png', mediaType: 'image/png', url: '/artifacts/art_1' }
    expect((await ask([done({ artifacts: [file] })])).answer).toBe(
      '\n\nFiles:\na.png (image/png): /artifacts/art_1',
    )
  })

  it('is announced from time to time while it is made', async () => {
    const { told } = await ask([...Array.from({ length: 5 }, () => delta('x')), done()], 300)
    expect(told.length).toBeGreaterThan(0)
    expect(told.length).toBeLessThan(5)
  })

  it('must have an end', async () => {
    await expect(ask([delta('x')])).rejects.toThrow('no end')
  })
})

describe('the text of a document', () => {
  const chunk = (text: string, start: number) => ({
    ...{ id: `c${start}`, text, start, end: start + text.length },
  })
  const read = (
    chunks: ReturnType<typeof chunk>[],
    pages: (string | undefined)[] = [undefined],
  ) => {
    const asked: (string | undefined)[] = []
    const documents = {
      get: async () => ({
        ...{ id: 'doc', title: 'Title', status: 'ready' as const, attempts: 1, revision: 1 },
        ...{ chunks: 1, characters: 1, createdAt: '', updatedAt: '' },
      }),
      async chunks(_id: string, { cursor }: { cursor?: string | undefined }) {
        asked.push(cursor)
        const nextCursor = pages[asked.length - 1]
        return { chunks, ...(nextCursor && { nextCursor }) }
      },
    }
    return readDocument(documents, 'doc', undefined).then((text) => ({ text, asked }))
  }

  it('is put together from its chunks, what they share but once', async () => {
    const { text } = await read([chunk('One two', 0), chunk('two three', 4), chunk('Four', 20)])
    expect(text).toBe('Title, document doc\n\nOne two three\nFour')
  })

  it('says where to read on', async () => {
    const { text, asked } = await read([chunk('x'.repeat(50_000), 0)], ['next'])
    expect(text).toMatch(/\n\[more: read on with cursor next\]$/)
    expect(asked).toEqual([undefined])
  })

  it('says that there is none yet', async () => {
    expect((await read([])).text).toBe('Title, document doc\n[no text yet: the document is ready]')
  })
})
