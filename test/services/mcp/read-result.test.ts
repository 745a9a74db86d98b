import type { CallToolResult } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { readResult } from '../../../src/services/mcp/tools.ts'
import { createContext } from '../tools/context-for-test.ts'

const PIXEL = Buffer.from('GIF89a').toString('base64')
const { signal } = new AbortController()

async function read(result: CallToolResult, readable: Record<string, string> = {}) {
  const { artifacts } = createContext()
  const asked: string[] = []
  const text = await readResult(
    result,
    {
      artifacts,
      async readResource(uri) {
        asked.push(uri)
        const found = readable[uri]
        if (found === undefined) throw new Error('secret words')
        return { contents: [{ uri, text: found }] }
      },
    },
    signal,
  )
  return { text, asked, made: artifacts.all() }
}

describe('what a tool of a server answers', () => {
  it('is its text, part by part', async () => {
    const content = [
      { type: 'text' as const, text: 'One' },
      { type: 'text' as const, text: 'two' },
    ]
    expect((await read({ content })).text).toBe('One\n\ntwo')
  })

  it('is its structure where there is no text', async () => {
    expect((await read({ content: [], structuredContent: { a: 1 } })).text).toBe('{"a":1}')
    expect((await read({ content: [] })).text).toBe('The tool answered nothing.')
  })

  it.each([
    ['a picture', { type: 'image' as const, data: PIXEL, mimeType: 'image/gif' }, 'image/gif'],
    ['a sound', { type: 'audio' as const, data: PIXEL, mimeType: 'audio/wav' }, 'audio/wav'],
    [
      'a binary resource',
      {
        type: 'resource' as const,
        resource: { uri: 'demo://files/report.pdf?x=1', blob: PIXEL, mimeType: 'application/pdf' },
      },
      'application/pdf',
    ],
    [
      'a long text',
      { type: 'resource' as const, resource: { uri: 'demo://log', text: 'x'.repeat(30_000) } },
      'text/plain',
    ],
  ])('becomes a file where it is %s', async (_case, block, mediaType) => {
    const { text, made } = await read({ content: [block] })
    expect(made).toMatchObject([{ mediaType }])
    expect(text).toContain(made[0]?.url)
    expect(text.length).toBeLessThan(300)
  })

  it('is named for the last part of its address', async () => {
    const resource = { uri: 'demo://files/report.pdf?x=1', blob: PIXEL }
    expect((await read({ content: [{ type: 'resource', resource }] })).made).toMatchObject([
      { name: 'report.pdf', size: 6 },
    ])
  })

  it('is the text of a short resource, with its address', async () => {
    const resource = { uri: 'demo://note', text: 'Short' }
    expect((await read({ content: [{ type: 'resource', resource }] })).text).toBe(
      'demo://note:\nShort',
    )
  })

  it('holds what its links lead to, five of them at most, and says which could not be read', async () => {
    const links = Array.from({ length: 7 }, (_, index) => ({
      type: 'resource_link' as const,
      name: `Link ${index}`,
      uri: `demo://${index}`,
    }))
    const { text, asked } = await read({ content: links }, { 'demo://0': 'Zero' })
    expect(asked).toHaveLength(5)
    expect(text).toContain('Link 0 (demo://0)\ndemo://0:\nZero')
    expect(text).toContain('[could not be read: demo://1, Error]')
    expect(text).toContain('[not read: demo://6]')
    expect(text).not.toContain('secret words')
  })

  it('is bounded in its parts', async () => {
    const content = Array.from({ length: 60 }, () => ({ type: 'text' as const, text: 'x' }))
    expect((await read({ content })).text).toMatch(/\[cut: 10 more parts\]$/)
  })

  it('says that a file could not be kept', async () => {
    const content = Array.from({ length: 50 }, () => ({
      ...{ type: 'image' as const, data: PIXEL, mimeType: 'image/gif' },
    }))
    const { artifacts } = createContext()
    for (let index = 0; index < 10; index += 1) {
      await artifacts.add({ name: 'a', mediaType: 'text/plain', bytes: Uint8Array.of(1) })
    }
    const parts = { artifacts, readResource: () => Promise.reject(new Error('no')) }
    const text = await readResult({ content }, parts, signal)
    expect(text).toMatch(/\[a file could not be kept: At most 50 files/)
  })
})
