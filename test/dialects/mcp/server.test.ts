import { setTimeout as pause } from 'node:timers/promises'
import type { ChatFrame, ChatRequest } from '@agent-server/schemas/chat.ts'
import { describe, expect, it } from 'vitest'
import { readDocument } from '../../../src/dialects/mcp/corpus-tools.ts'
import { askAgent } from '../../../src/dialects/mcp/server.ts'
import { hitOf } from '../../support/hit.ts'

const { signal } = new AbortController()
const delta = (text: string): ChatFrame => ({ type: 'text-delta', text })
const done = (more: object = {}): ChatFrame => ({
  type: 'done',
  hits: [],
  finishReason: 'stop',
  ...more,
})

async function ask(frames: readonly ChatFrame[], milliseconds = 0) {
  const requests: ChatRequest[] = []
  const reported: number[] = []
  async function* answerWith(request: ChatRequest) {
    requests.push(request)
    for (const frame of frames) {
      await pause(milliseconds)
      yield [frame]
    }
  }
  const report = async (progress: number) => void reported.push(progress)
  const { text: answer, structured } = await askAgent(
    answerWith,
    { question: 'When?', topK: 3 },
    report,
  )
  return { answer, structured, requests, reported }
}

describe('an answer of the agent', () => {
  it('is its text, then the sources that the numbers stand for', async () => {
    const hits = [
      { ...hitOf('a'), url: 'https://a.org' },
      { ...hitOf('b'), title: '' },
    ]
    const { answer, structured, requests } = await ask([
      delta('At '),
      delta('ten. [1]'),
      done({ hits }),
    ])
    expect(answer).toBe(
      'At ten. [1]\n\nSources:\n[1] Title of a, https://a.org, document doc_a\n[2] document doc_b',
    )
    expect(structured).toMatchObject({
      answer: 'At ten. [1]',
      sources: [
        { id: 'doc_a', url: 'https://a.org' },
        { title: 'doc_b', url: 'document:///doc_b' },
      ],
    })
    expect(requests).toMatchObject([{ topK: 3, messages: [{ role: 'user', content: 'When?' }] }])
  })

  it('names the files that tools made', async () => {
    const file = { name: 'a.png', mediaType: 'image/png', url: '/artifacts/art_1' }
    expect((await ask([done({ artifacts: [file] })])).answer).toBe(
      '\n\nFiles:\na.png (image/png): /artifacts/art_1',
    )
  })

  it('is announced from time to time while it is made', async () => {
    const { reported } = await ask([...Array.from({ length: 5 }, () => delta('x')), done()], 300)
    expect(reported.length).toBeGreaterThan(0)
    expect(reported.length).toBeLessThan(5)
  })

  it('must have an end', async () => {
    await expect(ask([delta('x')])).rejects.toThrow('ended unexpectedly')
  })
})

describe('the text of a document', () => {
  const read = async (text: string, start = 0) => {
    const { length } = text
    const about = { title: 'Title', url: undefined, revision: 1, length, isWhole: true }
    const documents: Parameters<typeof readDocument>[0] = {
      text: async (_id, { start: from, end }) => ({ ...about, text: text.slice(from, end) }),
    }
    return (await readDocument(documents, { id: 'doc', start }, signal)).text
  }

  it('comes whole where it is short, from where it was asked for', async () => {
    expect(await read('One two')).toBe('Title, document doc\n\nOne two')
    expect(await read('One two', 4)).toBe('Title, document doc\n\ntwo')
  })

  it('says where to read on', async () => {
    const text = 'x'.repeat(50_000)
    expect(await read(text)).toMatch(/x{40000}\n\[more: get_document reads on with start 40000\]$/)
    expect(await read(text, 40_000)).toMatch(/\n\nx{10000}$/)
  })
})
