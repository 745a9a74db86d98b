import type { Visibility } from '@agent-server/lib/visibility.ts'
import type { FormKind, FormResult, Forms, FormValues } from '@agent-server/office-tools'
import { forCaller } from '@agent-server/schemas/visibility.ts'
import { describe, expect, it } from 'vitest'
import { ToolInputError } from '../../../src/agent/tools/define-tool.ts'
import { fillForm, missingWords } from '../../../src/agent/tools/fill-form.ts'
import { hitOf } from '../../support/hit.ts'
import { createContext } from './context-for-test.ts'
import { createFakeLookup, documentOf, type FakeTable } from './stored-document.ts'

const { signal } = new AbortController()
const MARKDOWN = 'Name: {{name}}'
const FIELDS: FormResult['fields'] = [
  { name: 'name', kind: 'text', required: true },
  { name: 'city', kind: 'choice', options: ['Rome'] },
]

/** A fake that fills nothing, and keeps what it was asked. */
function create(result: Partial<FormResult> = {}, tables: FakeTable[] = []) {
  const asked: { kind: FormKind; text: string; values: FormValues }[] = []
  const forms: Forms = {
    async fill({ kind, bytes, values }) {
      asked.push({ kind, text: Buffer.from(bytes).toString(), values })
      return { fields: FIELDS, mistakes: [], unfilled: ['city'], ...result }
    },
  }
  const context = createContext({ visibility: forCaller({ collections: ['public'] }) })
  context.citations.add([hitOf('a')])
  const { lookup, store } = createFakeLookup(tables)
  const get = async ({ collections }: Visibility, id: string) => {
    const table = tables.find((each) => each.id === id)
    const isVisible = id === 'doc_a' || !collections.includes('public')
    return table && isVisible ? documentOf(table) : undefined
  }
  const documents = { ...store, get }
  const tool = fillForm({ forms, store: documents, lookup, artifacts: context.store })
  return { asked, context, run: (input: object) => tool.run(input, context, signal) }
}

const filled = { bytes: Buffer.from('filled') }

describe('fill_form', () => {
  it('lists the fields if no values are given', async () => {
    expect(await create().run({ markdown: MARKDOWN })).toBe(
      'The fields of the form:\n- name: text, required\n- city: choice of Rome',
    )
  })

  it('gives the filled form as a file, with the source of each value and what is not filled', async () => {
    const { run, context } = create(filled)
    const values = { name: { value: 'Ada', source: 'user' } }
    const answer = await run({ markdown: MARKDOWN, values })
    expect(context.artifacts.all()).toMatchObject([{ name: 'form.md', mediaType: 'text/markdown' }])
    expect(answer).toContain('Filled: name (user)')
    expect(answer).toContain('Not filled: city. Tell the user which, and do not guess them.')
  })

  it('takes from a passage what it says', async () => {
    const { run, asked } = create(filled)
    const values = { name: { value: 'text OF a', source: 1 } }
    expect(await run({ markdown: MARKDOWN, values })).toContain('Filled: name (k [1])')
    expect(asked).toEqual([{ kind: 'text', text: MARKDOWN, values: { name: 'text OF a' } }])
  })

  it.each([
    [{ value: 'Grace', source: 1 }, 'name: passage 1 does not say grace'],
    [{ value: 12, source: 1 }, 'name: passage 1 does not say 12'],
    [{ value: 'Ada', source: 2 }, 'name: there is no passage 2'],
  ])('takes from no passage what it does not say: %j', async (value, words) => {
    const { run, asked, context } = create(filled)
    await expect(run({ markdown: MARKDOWN, values: { name: value } })).rejects.toThrow(words)
    expect(asked).toEqual([])
    expect(context.artifacts.all()).toEqual([])
  })

  it('reports values that do not fit the form', async () => {
    const { run } = create({ mistakes: ['a: must be a number'] })
    await expect(run({ markdown: MARKDOWN })).rejects.toThrow('a: must be a number')
  })

  it('takes a schema, and a file that was made before', async () => {
    const { run, asked, context } = create()
    await run({ schema: { type: 'object' } })
    const { id } = await context.artifacts.add({
      name: 'a.pdf',
      mediaType: 'application/pdf',
      bytes: Buffer.from('%PDF-1.7'),
    })
    await run({ artifactId: id })
    expect(asked.map(({ kind }) => kind)).toEqual(['schema', 'pdf'])
    await expect(run({ artifactId: 'art_9' })).rejects.toThrow('does not exist')
    await expect(run({ documentId: 'gone' })).rejects.toThrow('no document "gone"')
  })

  it('opens no document that a filtered run may not see', async () => {
    const { run, asked } = create({}, [
      { id: 'doc_a', content: '' },
      { id: 'doc_b', content: '' },
    ])
    await run({ documentId: 'doc_a' })
    await expect(run({ documentId: 'doc_b' })).rejects.toThrow('no document "doc_b"')
    expect(asked).toHaveLength(1)
  })

  it('opens no document that failed', async () => {
    const { run, asked } = create({}, [{ id: 'doc_a', content: '', failed: true }])
    await expect(run({ documentId: 'doc_a' })).rejects.toThrow('it is failed, not ready')
    expect(asked).toEqual([])
  })

  it.each([
    {},
    { markdown: MARKDOWN, documentId: 'doc' },
    { markdown: MARKDOWN, values: { name: 'Ada' } },
    { markdown: MARKDOWN, values: { name: { value: 'Ada' } } },
    { markdown: MARKDOWN, values: { name: { value: 'Ada', source: 'guess' } } },
  ])('refuses %j', async (input) => {
    await expect((async () => create().run(input))()).rejects.toThrow(ToolInputError)
  })
})

describe('Words that are not said', () => {
  describe('The words of a value that a text does not say', () => {
    it.each([
      ['Ada Lovelace', 'Born as Ada Byron, later Lovelace.', []],
      ['ADA', 'ada', []],
      ['Ada', 'Adam', ['ada']],
      ['Paris, France', 'She lives in London, France street.', ['paris']],
      ['1234', 'IBAN 12345', ['1234']],
      ['ﬁle', 'a file', []],
      ['e\u0301te\u0301', 'l’été', []],
      ['東京都', '住所は東京都渋谷区です。', []],
      ['東京都 渋谷区', '住所は東京都渋谷区です。', []],
      ['大阪府', '住所は東京都渋谷区です。', ['大阪府']],
      ['서울', '서울은 크다', []],
      ['กรุงเทพ', 'อยู่ที่กรุงเทพมหานคร', []],
      ['東京 7', '東京 17', ['7']],
      ['مرحبا', 'قال مرحبا', []],
      ['', 'anything', []],
      ['same same', 'other', ['same']],
    ])('%j, of %j', (value, text, missing) => {
      expect(missingWords(value, text)).toEqual(missing)
    })
  })
})
