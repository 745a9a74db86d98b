import { setTimeout as pause } from 'node:timers/promises'
import { MASTER } from '@agent-server/schemas/operator/api-key.ts'
import type { AgentEvent, RunEnd } from '@agent-server/wire'
import { describe, expect, it } from 'vitest'
import { NOTHING_MORE } from '../../../test/support/artifact.ts'
import { hitOf } from '../../../test/support/hit.ts'
import { askAgent, toAgentRequest } from '../src/ask-tool.ts'
import { readDocument } from '../src/corpus-tools.ts'

const { signal } = new AbortController()
const delta = (text: string): AgentEvent => ({ type: 'text-delta', text })
const done = (more: Partial<RunEnd> = {}): AgentEvent => ({
  type: 'run-end',
  reason: 'stop',
  hits: [],
  usage: undefined,
  ...NOTHING_MORE,
  ...more,
})

async function ask(events: readonly AgentEvent[], milliseconds = 0) {
  const reported: number[] = []
  async function* run() {
    for (const event of events) {
      await pause(milliseconds)
      yield [event]
    }
  }
  const report = async (progress: number) => void reported.push(progress)
  const { text: answer, structured } = await askAgent(run(), report)
  return { answer, structured, reported }
}

describe('an answer of the agent', () => {
  it('is its text, then the sources that the numbers stand for', async () => {
    const hits = [
      { ...hitOf('a'), url: 'https://a.org' },
      { ...hitOf('b'), title: '' },
    ]
    const { answer, structured } = await ask([delta('At '), delta('ten. [1]'), done({ hits })])
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
    const chatModel = { name: 'm', generates: true, supportsTools: true, supportsImages: true }
    const settings = { modelName: 'agent', agents: new Map(), defaultTopK: 5, chatModel }
    expect(toAgentRequest({ question: 'When?', topK: 3 }, MASTER, settings)).toMatchObject({
      topK: 3,
      messages: [{ role: 'user', content: 'When?' }],
    })
  })

  it('names the files that tools made', async () => {
    const place = { id: 'art_1', url: '/artifacts/art_1', expiresAt: '2026-01-01T00:00:00Z' }
    const file = { ...place, name: 'a.png', mediaType: 'image/png', size: 1 }
    expect((await ask([done({ artifacts: [file] })])).answer).toBe(
      '\n\nFiles:\na.png (image/png): /artifacts/art_1',
    )
  })

  it('reports progress while it is made', async () => {
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

  it('is returned whole if it is short, from the requested offset', async () => {
    expect(await read('One two')).toBe('Title, document doc\n\nOne two')
    expect(await read('One two', 4)).toBe('Title, document doc\n\ntwo')
  })

  it('has the offset of its next part', async () => {
    const text = 'x'.repeat(50_000)
    expect(await read(text)).toMatch(/x{40000}\n\[more: get_document reads on with start 40000\]$/)
    expect(await read(text, 40_000)).toMatch(/\n\nx{10000}$/)
  })
})
