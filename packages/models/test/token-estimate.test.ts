import { describe, expect, it } from 'vitest'
import { estimateTokens, sizeOfMessages, sizeOfTools } from '../src/token-estimate.ts'

describe('The estimate of tokens', () => {
  // Counted with the encoding o200k_base.
  it.each([
    ['English', 'The library opens at nine on weekdays. On Saturdays it opens at ten.', 15],
    ['Russian', 'Библиотека открывается в девять часов по будням, в субботу в десять.', 23],
    ['Greek', 'Η βιβλιοθήκη ανοίγει στις εννέα τις καθημερινές.', 17],
    ['Chinese', '图书馆工作日九点开门，星期六十点开门。', 17],
    ['Japanese', '図書館は平日は九時に開館し、土曜日は十時に開館します。', 23],
    ['Arabic', 'تفتح المكتبة أبوابها في التاسعة صباحا أيام الأسبوع.', 15],
  ])('is within a factor of two for %s', (_language, text, counted) => {
    expect(estimateTokens(text) / counted).toBeGreaterThan(0.5)
    expect(estimateTokens(text) / counted).toBeLessThan(2)
  })

  it('is empty for an empty input', () => {
    expect(estimateTokens('')).toBe(0)
  })
})

describe('The size of messages', () => {
  it('is that of their text and of the arguments of their calls, in bytes', () => {
    const toolCalls = [{ callId: 'a', name: 'semantic_search', arguments: '{"query":"été"}' }]
    expect(
      sizeOfMessages([
        { role: 'user', content: 'née' },
        { role: 'assistant', content: '', toolCalls },
        { role: 'tool', callId: 'a', content: '鳥' },
      ]),
    ).toBe(4 + 17 + 3)
  })

  it('is empty if there are none', () => {
    expect(sizeOfMessages([])).toBe(0)
  })
})

describe('The size of tools', () => {
  it('is that of their definitions as JSON, also where two share a schema', () => {
    const parameters = { type: 'object', properties: { oiseau: { description: 'l’été' } } }
    const tools = [
      { name: 'a', description: 'née', parameters },
      { name: 'bc', description: '', parameters },
      { name: 'd', description: '', parameters: { ...parameters, required: ['oiseau'] } },
    ]
    const listed = JSON.stringify(tools)
    expect(sizeOfTools(tools)).toBe(Buffer.byteLength(listed) - '[]'.length + 1)
    expect(sizeOfTools([])).toBe(0)
  })
})
