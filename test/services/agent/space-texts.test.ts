import { describe, expect, it } from 'vitest'
import type { AgentEvent } from '../../../src/services/agent/agent-event.ts'
import { spaceTexts } from '../../../src/services/agent/run-agent.ts'

const text = (words: string): AgentEvent => ({ type: 'text-delta', text: words })
const result: AgentEvent = {
  ...{ type: 'tool-result', callId: 'c', tool: 't' },
  ...{ output: '', isError: false },
}

async function* play(events: readonly AgentEvent[]) {
  yield* events
}

const said = async (...events: AgentEvent[]) => {
  const heard = await Array.fromAsync(spaceTexts(play(events)))
  return heard.map((event) => (event.type === 'text-delta' ? event.text : ''))
}

describe('What a model says around its tools', () => {
  it('is parted by a blank line', async () => {
    expect(await said(text('Look'), text('ing.'), result, text('Do'), text('ne.'))).toEqual([
      ...['Looking.'.slice(0, 4), 'ing.', '', '\n\nDo', 'ne.'],
    ])
  })

  it.each([
    ['after a line that has ended', [text('Looking.\n'), result, text('Done.')]],
    ['where nothing was said before', [result, text('Done.')]],
  ])('is left as it is %s', async (_case, events) => {
    expect((await said(...events)).at(-1)).toBe('Done.')
  })

  it('is parted once for many results', async () => {
    expect(await said(text('a'), result, result, text(''), text('b'), text('c'))).toEqual([
      ...['a', '', '', '', '\n\nb', 'c'],
    ])
  })

  it('is whole where no tool was called', async () => {
    expect((await said(text('a'), text('b'))).join('')).toBe('ab')
  })
})
