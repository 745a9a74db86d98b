import { InMemoryTransport } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { withMending } from '../../../src/agent/mcp/mend-messages.ts'
import { processorMs } from '../../support/processor-time.ts'

/** What the client is told of a result. */
function mended(result: Record<string, unknown>): unknown {
  let told: unknown
  const mending = withMending(new InMemoryTransport())
  mending.onmessage = (message) => {
    told = 'result' in message ? message.result : undefined
  }
  mending.onmessage({ jsonrpc: '2.0', id: 1, result })
  return told
}

describe('A result of a server', () => {
  it.each([
    ['contents of strings', { contents: ['a', 'b'] }],
    ['tools that are names', { tools: ['hammer', 'saw'] }],
    ['tools in what a tool answered', { content: [], tools: [{ id: 1 }] }],
    ['versions in what a tool answered', { content: [], supportedVersions: ['1', '2'] }],
    ['versions alone', { supportedVersions: ['1', '2'] }],
  ])('keeps %s', (_, result) => {
    expect(mended(result)).toEqual(result)
  })

  it('keeps the type of bytes in a data URL', () => {
    const resource = { uri: 'file:///a', blob: 'data:image/png;base64,SGVsbG8=' }
    const plain = { uri: 'file:///a', blob: 'SGVsbG8=', mimeType: 'image/png' }
    expect(mended({ contents: [resource] })).toEqual({ contents: [plain] })
    expect(mended({ content: [{ type: 'resource', resource }] })).toEqual({
      content: [{ type: 'resource', resource: plain }],
    })
  })

  it.each([
    [1, true],
    ['True', true],
    [0, false],
    ['no', false],
  ])('is a failure as %j says', (isError, expected) => {
    expect(mended({ content: [], isError })).toEqual({ content: [], isError: expected })
  })

  it('has long bytes in the base64 of URLs turned into plain ones at little cost', () => {
    const image = { type: 'image', mimeType: 'image/png' }
    const begun = processorMs()
    const told = mended({ content: [{ ...image, data: '-_'.repeat(1_000_000) }] })
    expect(processorMs() - begun).toBeLessThan(500)
    expect(told).toEqual({ content: [{ ...image, data: '+/'.repeat(1_000_000) }] })
  })

  it('may nest resources deeply', () => {
    let part: Record<string, unknown> = { text: 'deep' }
    for (let depth = 0; depth < 5_000; depth += 1) part = { resource: part }
    expect(mended({ content: [{ type: 'resource', ...part }] })).toMatchObject({
      content: [{ type: 'text' }],
    })
  })
})
