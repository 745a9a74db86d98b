import { describe, expect, it } from 'vitest'
import { processorMs } from '../../../../test/support/processor-time.ts'
import { ThinkingSplitter } from '../../src/upstream/answer-text.ts'
import { WrittenCalls } from '../../src/upstream/written-calls.ts'

/** What is said of a text that comes in pieces of this length. */
function think(text: string, length: number, options = {}) {
  const splitter = new ThinkingSplitter(options)
  const said = [...piecesOf(text, length).map((piece) => splitter.write(piece)), splitter.end()]
  return {
    ...(splitter.wasOpen !== undefined && { wasOpen: splitter.wasOpen }),
    text: said.map((each) => each.text).join(''),
    reasoning: said.map(({ reasoning }) => reasoning).join(''),
  }
}

function readCalls(text: string, length: number, offered: readonly string[] = ['find']) {
  const written = new WrittenCalls(new Set(offered))
  const shown =
    piecesOf(text, length)
      .map((piece) => written.write(piece))
      .join('') + written.end()
  return { shown, calls: written.calls, hasDropped: written.hasDropped }
}

function piecesOf(text: string, length: number): string[] {
  const count = Math.ceil(text.length / length)
  return Array.from({ length: count }, (_, at) => text.slice(at * length, (at + 1) * length))
}

const LENGTHS = [1, 3, 1_000]

describe.each(LENGTHS)('Thinking, in pieces of %i characters,', (length) => {
  it.each([
    ['<think>Hm.</think>\n\nAt nine.', 'Hm.', 'At nine.'],
    ['\n<think>\nHm. </thin </think>At nine.', '\nHm. </thin ', 'At nine.'],
    ['<think>Hm, for', 'Hm, for', ''],
    ['<think></think>At nine.', '', 'At nine.'],
    ['<thinking>Hm. </think></thinking>At nine.', 'Hm. </think>', 'At nine.'],
    ['<thought>\nHm.</thought>\nAt nine.', '\nHm.', 'At nine.'],
    ['<seed:think>Hm.</seed:think>At nine.', 'Hm.', 'At nine.'],
    ['<thin ice> at nine.', '', '<thin ice> at nine.'],
    ['At nine, says <think> here.', '', 'At nine, says <think> here.'],
    ['<thinly sliced>', '', '<thinly sliced>'],
    ['<th', '', '<th'],
  ])('of %j is kept out of the answer', (text, reasoning, answer) => {
    expect(think(text, length)).toEqual({ text: answer, reasoning })
  })
})

describe.each(LENGTHS)('Thinking without its mark, in pieces of %i characters,', (length) => {
  it.each([
    ['Hm.\n</think>\n\nAt nine.', 'Hm.\n\nAt nine.', true],
    ['At nine, says `</think>` here.', 'At nine, says `</think>` here.', undefined],
    ['At nine.\n</think', 'At nine.\n</think', undefined],
  ])('of %j is found by its end', (text, answer, wasOpen) => {
    expect(think(text, length)).toEqual({
      text: answer,
      reasoning: '',
      ...(wasOpen && { wasOpen }),
    })
  })

  it.each([
    ['Okay, the user asks when it opens.\n</think>\n\nAt nine.', 'At nine.', true],
    ['We need to find the hours. </think>At nine.', 'At nine.', true],
    ['好的，用户想知道几点开门。我需要看看文件。\n</think>\n九点。', '九点。', true],
    ['Okay, at nine on weekdays.', 'Okay, at nine on weekdays.', false],
    ['Alright.', 'Alright.', undefined],
  ])('of %j is known by how it begins', (text, answer, wasOpen) => {
    const told = { text: answer, ...(wasOpen !== undefined && { wasOpen }) }
    expect(think(text, length)).toMatchObject(told)
  })

  it.each([
    ['Hm.\n</think>\n\nAt nine.', 'Hm.\n', 'At nine.', true],
    ['<think>Hm.</think>At nine.', 'Hm.', 'At nine.', undefined],
    ['At nine.', 'At nine.', 'At nine.', false],
  ])('of %j is kept out of the answer, once it is known', (text, reasoning, answer, wasOpen) => {
    const told = { text: answer, reasoning, ...(wasOpen !== undefined && { wasOpen }) }
    expect(think(text, length, { isOpen: true })).toEqual(told)
  })
})

const CALL = '{"name": "find", "arguments": {"query": "opening {hours}"}}'
const READ = [{ name: 'find', arguments: '{"query":"opening {hours}"}' }]

describe.each(LENGTHS)('A call written as text, in pieces of %i characters,', (length) => {
  it.each([
    ['alone', CALL, ''],
    ['with spaces', `  {\n  "name": "find",\n "arguments": {"query": "opening {hours}"}}\n`, '  '],
    ['marked', `<tool_call>\n${CALL}\n</tool_call>`, ''],
    ['after text', `I will look.\n<tool_call>${CALL}</tool_call>`, 'I will look.\n'],
    ['fenced', `Look:\n\`\`\`json\n${CALL}\n\`\`\`\n`, 'Look:\n'],
    ['in a list', `[TOOL_CALLS][${CALL}]`, ''],
    ['with parameters', CALL.replace('arguments', 'parameters'), ''],
    ['as Llama writes it', '<function=find>{"query": "opening {hours}"}</function>', ''],
    [
      'as Qwen3-Coder writes it',
      'I look.\n<tool_call>\n<function=find>\n<parameter=query>\nopening {hours}\n</parameter>\n</function>\n</tool_call>',
      'I look.\n',
    ],
    ['as in the protocol', `{"type": "function", "function": ${CALL}}`, ''],
  ])('is read %s', (_case, text, shown) => {
    expect(readCalls(text, length)).toEqual({
      shown: expect.stringMatching(shown.trim() === '' ? /^\s*$/ : shown),
      calls: READ,
      hasDropped: false,
    })
  })

  it('is read with others', () => {
    const other = CALL.replace('opening', 'closing')
    const both = [...READ, { name: 'find', arguments: '{"query":"closing {hours}"}' }]
    const marked = `<tool_call>\n${CALL}\n</tool_call>\n`
    const next = marked.replace(CALL, other)
    expect(readCalls(marked + next, length)).toMatchObject({ shown: '', calls: both })
    expect(readCalls(`[${CALL}, ${other}]`, length)).toMatchObject({ calls: both })
  })

  it('is read once where it is repeated', () => {
    const marked = `<tool_call>\n${CALL}\n</tool_call>\n`
    expect(readCalls(marked.repeat(3), length)).toEqual({
      shown: '',
      calls: READ,
      hasDropped: false,
    })
  })

  it.each([
    ['of a tool that does not exist', CALL.replace('find', 'lose')],
    ['without its end', CALL.slice(0, -8)],
  ])('is not shown %s', (_case, text) => {
    expect(readCalls(text, length)).toEqual({ shown: '', calls: [], hasDropped: true })
  })
})

describe.each(LENGTHS)('A call that text follows, in pieces of %i characters,', (length) => {
  it.each([`${CALL} run_python`, `${CALL}\nThis is what the letter says.`])(
    'is text: %j',
    (text) => {
      expect(readCalls(text, length)).toEqual({ shown: text, calls: [], hasDropped: false })
    },
  )
})

describe.each(LENGTHS)('Text, in pieces of %i characters,', (length) => {
  it.each([
    ['At nine [1], and at ten [2].'],
    ['[1] says:\n- a\n- {b}\n{ c }'],
    ['```python\nprint({"a": 1})\n```\nand\n```json\n{"opens": "at nine"}\n```'],
    ['{"name": "Library", "opens": 9}'],
    ['a < b, <tool, `code` and ``'],
    ['Write `<function=find>` and `</function>`.'],
    ['<function=find> begins a call'],
    ['<function=with spaces>{}</function>'],
    ['{'],
    ['```'],
  ])('is shown as it is: %j', (text) => {
    expect(readCalls(text, length)).toEqual({ shown: text, calls: [], hasDropped: false })
  })

  it('is not searched where no tool is offered', () => {
    expect(readCalls(CALL, length, [])).toEqual({ shown: CALL, calls: [], hasDropped: false })
  })
})

it.each(['\n{', '[TOOL_CALLS]', '<tool_call>', '\n<function=a>'])(
  'looks for calls at once in a long text of %j',
  (part) => {
    const written = new WrittenCalls(new Set(['lamp']))
    const text = part.repeat(600_000 / part.length)
    const started = processorMs()
    expect(written.write(text).length + written.end().length).toBe(text.length)
    expect(processorMs() - started).toBeLessThan(1_000)
  },
)
