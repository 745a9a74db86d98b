import type { CallToolResult } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import type { RemoteTool } from '../../../src/agent/mcp/session.ts'
import type { ToolChange } from '../../../src/agent/mcp/tool-lock.ts'
import { mcpToolName, readResult, resolveTools } from '../../../src/agent/mcp/tools.ts'
import { createContext } from '../tools/context-for-test.ts'

describe('The tools of a server', () => {
  const NO_CHANGES = new Map<string, ToolChange>()

  function tool(name: string, inputSchema: RemoteTool['inputSchema'] = { type: 'object' }) {
    return { name, description: `Does ${name}`, inputSchema }
  }

  /** A schema of so many levels. */
  function deep(levels: number): RemoteTool['inputSchema'] {
    const inside = `${'{"a":'.repeat(levels)}{}${'}'.repeat(levels)}`
    return { type: 'object', properties: JSON.parse(inside) }
  }

  describe('the tools of a server', () => {
    it('are all accepted if they are valid', () => {
      expect(resolveTools([tool('a'), tool('b')], undefined, NO_CHANGES)).toEqual([
        { remote: tool('a'), off: false },
        { remote: tool('b'), off: false },
      ])
    })

    it('are each taken once, the first of a name', () => {
      const second = { ...tool('a'), description: 'Does something else' }
      const resolved = resolveTools([tool('a'), second], undefined, NO_CHANGES)
      expect(resolved.map(({ remote }) => remote.description)).toEqual(['Does a'])
    })

    it.each<[readonly string[], string[]]>([
      [['a'], ['b', 'c']],
      [[], ['a', 'b', 'c']],
      [['A'], ['a', 'b', 'c']],
      [['a', 'b', 'c', 'other'], []],
    ])('are off where the configuration allows only %j', (allowed, off) => {
      const resolved = resolveTools([tool('a'), tool('b'), tool('c')], allowed, NO_CHANGES)
      expect(resolved.filter((one) => one.off).map(({ remote }) => remote.name)).toEqual(off)
    })

    it.each<[ToolChange, RegExp]>([
      ['new', /added this tool/],
      ['changed', /definition has changed/],
    ])('are refused where they are %s, and it is said how to accept them', (change, reason) => {
      const [resolved] = resolveTools([tool('a')], undefined, new Map([['a', change]]))
      expect(resolved?.refusal).toMatch(reason)
      expect(resolved?.refusal).toContain('accept it')
    })

    it.each([
      ['too large', { type: 'object' as const, description: 'x'.repeat(60_000) }],
      ['too deep', deep(150)],
    ])('are refused with a schema that is %s', (_case, schema) => {
      const [resolved] = resolveTools([tool('a', schema)], undefined, NO_CHANGES)
      expect(resolved?.refusal).toMatch(/too large or too deep/)
    })

    it('may have schemas of some size and depth', () => {
      const schema = { ...deep(20), description: 'x'.repeat(10_000) }
      expect(resolveTools([tool('a', schema)], undefined, NO_CHANGES)[0]?.refusal).toBeUndefined()
    })

    it('are a hundred and twenty-eight at most, and each of the rest says why it is not used', () => {
      const many = Array.from({ length: 200 }, (_, index) => tool(`tool-${index}`))
      const resolved = resolveTools(many, undefined, NO_CHANGES)
      expect(resolved.filter(({ refusal }) => refusal === undefined)).toHaveLength(128)
      expect(resolved).toHaveLength(200)
      expect(resolved[128]?.refusal).toMatch(/128 tools are used: name .* `allowTools`$/)
    })

    it('are those that the configuration names, however many come before them', () => {
      const many = Array.from({ length: 200 }, (_, index) => tool(`tool-${index}`))
      const resolved = resolveTools(many, ['tool-199'], NO_CHANGES)
      const used = resolved.filter(({ off, refusal }) => !off && refusal === undefined)
      expect(used.map(({ remote }) => remote.name)).toEqual(['tool-199'])
    })
  })
})

describe('The name of a tool', () => {
  describe('the name of a tool', () => {
    it('is that of its connection and its own', () => {
      expect(mcpToolName('github', 'create_issue')).toBe('mcp__github__create_issue')
    })

    it.each([
      ['too long', 'a'.repeat(128)],
      ['with dots', 'files.read.all'],
      ['with other letters', 'größe messen'],
      ['empty', ''],
    ])('is one that every model takes: %s', (_case, tool) => {
      expect(mcpToolName('connection', tool)).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    })

    it('is unique for every tool, even when names are shortened', () => {
      const long = 'a'.repeat(100)
      const tools = ['a.b', 'a b', 'a_b', 'a:b', `${long}x`, `${long}y`, 'ä', 'ö']
      const names = tools.map((tool) => mcpToolName('c', tool))
      expect(new Set(names).size).toBe(tools.length)
    })

    it('is the same each time', () => {
      expect(mcpToolName('c', 'a.b')).toBe(mcpToolName('c', 'a.b'))
    })
  })
})

describe('The result of a call', () => {
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
      [
        'a picture',
        { type: 'image' as const, data: PIXEL, mimeType: 'image/gif' },
        'image.gif',
        'image/gif',
      ],
      [
        'a sound',
        { type: 'audio' as const, data: PIXEL, mimeType: 'audio/wav' },
        'audio.wav',
        'audio/wav',
      ],
      [
        'a binary resource',
        {
          type: 'resource' as const,
          resource: {
            uri: 'demo://files/report.pdf?x=1',
            blob: PIXEL,
            mimeType: 'application/pdf',
          },
        },
        'report.pdf',
        'application/pdf',
      ],
      [
        'a long text',
        { type: 'resource' as const, resource: { uri: 'demo://log', text: 'x'.repeat(30_000) } },
        'log.txt',
        'text/plain',
      ],
    ])('becomes a file where it is %s', async (_case, block, name, mediaType) => {
      const { text, made } = await read({ content: [block] })
      expect(made).toMatchObject([{ name, mediaType }])
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
        type: 'image' as const,
        data: PIXEL,
        mimeType: 'image/gif',
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
})
