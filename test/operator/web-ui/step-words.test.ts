import { describe, expect, it } from 'vitest'
import { fieldsOf, nameInWords, readOutput, wordsOf } from '../../../ui/chat/step-words.ts'

const step = (tool: string, input: unknown, output?: string, isError = false) => ({
  callId: '1',
  tool,
  input,
  ...(output !== undefined && { output, isError }),
})
const FOUND = `<passages>
[1] Owls hunt at night.

They hear well.
(Birds > Owls)

[2] Larks sing.
</passages>`

describe('The words for a step of a tool', () => {
  it.each([
    [step('semantic_search', { query: 'owls' }), 'Searching the documents for “owls”'],
    [
      step('semantic_search', { query: 'owls' }, FOUND),
      'Searched the documents for “owls”: 2 passages',
    ],
    [
      step('semantic_search', { query: 'x' }, '<passages>\nNothing was found.\n</passages>'),
      'Searched the documents for “x”: no passages',
    ],
    [
      step('find_text', { text: 'E12' }, '2 places in 1 of 2 documents.\n'),
      'Looked for text like “E12”: 2 places',
    ],
    [step('read_document', { document: '1' }, FOUND), 'Read a document: Birds > Owls'],
    [
      step('query_table', { sql: 'SELECT 1' }, 'Sources to cite:\n[1] a\nRows: 1\nn\n1'),
      'Queried tables: 1 row',
    ],
    [
      step('query_table', {}, 'Rows: more than 100, of which the first 9 follow\nn'),
      'Queried tables: more than 100 rows',
    ],
    [step('weather__forecast', { town: 'Ulm' }, 'Rain'), 'Called weather__forecast'],
    [
      step('run_python', { code: '1/0' }, 'Not run: the user refused', true),
      'Running Python code: not run',
    ],
    [step('lookup_data', { table: 'sales' }, 'No', true), 'Looking up data in “sales”: failed'],
    [step('search_tools', { query: 'x'.repeat(100) }), `Looking for tools to “${'x'.repeat(80)}…”`],
    [step('semantic_search', 'no object'), 'Searching the documents'],
  ])('%#: are a sentence', (given, words) => expect(wordsOf(given)).toBe(words))

  it('show passages by themselves, and nothing that only the model needs', () => {
    expect(readOutput(`${FOUND}\nCharacters 0 to 9 of 9.`)).toEqual({
      passages: [
        { number: '1', text: 'Owls hunt at night.\n\nThey hear well.', source: 'Birds > Owls' },
        { number: '2', text: 'Larks sing.', source: '' },
      ],
      rest: 'Characters 0 to 9 of 9.',
    })
    // What is stored of a long output has no end.
    expect(readOutput('<passages>\n[3] Owls hu').passages).toMatchObject([{ text: 'Owls hu' }])
    expect(readOutput('<skill_content name="a">\nDo this.\n</skill_content>').rest).toBe('Do this.')
    expect(readOutput('<passages>\nNothing was found.\n</passages>').rest).toBe(
      'Nothing was found.',
    )
  })

  it('name each field of the input', () => {
    expect(fieldsOf({ sql: 'SELECT 1', maximumRows: 5, of: { a: 1 } })).toEqual([
      ['sql', 'SELECT 1'],
      ['maximumRows', '5'],
      ['of', '{\n  "a": 1\n}'],
    ])
    expect(fieldsOf('text')).toEqual([['input', 'text']])
    expect(fieldsOf(undefined)).toEqual([])
    expect(nameInWords('maximumRows')).toBe('maximum rows')
  })
})
