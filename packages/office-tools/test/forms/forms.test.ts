import { Refusal } from '@agent-server/lib/refusal.ts'
import { PDFDocument, PDFHexString, PDFName } from '@cantoo/pdf-lib'
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'
import { getDocument } from 'pdfjs-dist'
import { describe, expect, it } from 'vitest'
import { onlyLong } from '../../../../test/support/long.ts'
import { createRunnerHere } from '../../../../test/support/run-job.ts'
import { zipFile } from '../../../../test/support/zip-file.ts'
import type { FormKind, FormValues } from '../../src/forms/form.ts'
import { createForms } from '../../src/forms/forms.ts'

const { signal } = new AbortController()
const forms = createForms(createRunnerHere())
const fill = (kind: FormKind, form: string | Uint8Array, values: FormValues = {}) =>
  forms.fill(
    { kind, bytes: typeof form === 'string' ? Buffer.from(form) : form, values },
    undefined,
    signal,
  )
const textOf = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString()

describe('A text with placeholders', () => {
  const TEXT = 'Dear {{ name }},\n\nyour order {{order-no}} of {{name}}.\n{{ not a } }}'

  it('has one field for each name', async () => {
    const { fields, unfilled, bytes } = await fill('text', TEXT)
    expect(fields).toEqual([
      { name: 'name', kind: 'text' },
      { name: 'order-no', kind: 'text' },
    ])
    expect(unfilled).toEqual(['name', 'order-no'])
    expect(bytes).toBeUndefined()
  })

  it('is filled where a value is given, and unchanged elsewhere', async () => {
    const { bytes, unfilled } = await fill('text', TEXT, { name: 'Привет $& 李' })
    expect(textOf(bytes)).toBe(
      'Dear Привет $& 李,\n\nyour order {{order-no}} of Привет $& 李.\n{{ not a } }}',
    )
    expect(unfilled).toEqual(['order-no'])
  })

  it('ignores a value for an unknown field', async () => {
    const { mistakes, bytes } = await fill('text', TEXT, { nmae: 'Ada' })
    expect(mistakes).toEqual(['There is no field "nmae"'])
    expect(bytes).toBeUndefined()
  })
})

describe('A form in JSON Schema', () => {
  const SCHEMA = JSON.stringify({
    type: 'object',
    required: ['name', 'age'],
    properties: {
      name: { type: 'string', minLength: 2 },
      age: { type: 'integer', minimum: 18 },
      plan: { enum: ['basic', 'pro'] },
      agree: { type: 'boolean' },
    },
  })

  it('has a field for each property', async () => {
    expect((await fill('schema', SCHEMA)).fields).toEqual([
      { name: 'name', kind: 'text', required: true },
      { name: 'age', kind: 'number', required: true },
      { name: 'plan', kind: 'choice', options: ['basic', 'pro'], required: false },
      { name: 'agree', kind: 'checkbox', required: false },
    ])
  })

  it('is filled with valid values, and lists the others', async () => {
    const { bytes, unfilled } = await fill('schema', SCHEMA, { name: 'Ada', agree: true })
    expect(JSON.parse(textOf(bytes))).toEqual({ name: 'Ada', agree: true })
    expect(unfilled).toEqual(['age', 'plan'])
  })

  it.each([
    [{ age: 'old' }, 'age: must be a number'],
    [{ age: 17 }, 'age: must be >= 18'],
    [{ name: 'A' }, 'name: must NOT have fewer than 2 characters'],
    [{ plan: 'gold' }, 'plan: must be one of basic, pro'],
    [{ agree: 'yes' }, 'agree: must be true or false'],
  ])('does not take %j', async (values, mistake) => {
    expect(await fill('schema', SCHEMA, values)).toMatchObject({ mistakes: [mistake] })
  })

  it('without properties is none', async () => {
    await expect(fill('schema', '{}')).rejects.toThrow(Refusal)
  })
})

describe('A PDF form', () => {
  async function createPdf() {
    const document = await PDFDocument.create()
    const page = document.addPage([400, 300])
    const form = document.getForm()
    form.createTextField('name').addToPage(page, { x: 20, y: 250, width: 200, height: 20 })
    form.createCheckBox('agree').addToPage(page, { x: 20, y: 200, width: 15, height: 15 })
    const city = form.createDropdown('city')
    city.addOptions(['Rome', 'Oslo'])
    city.addToPage(page, { x: 20, y: 150, width: 100, height: 20 })
    return document.save()
  }

  it('has its fields with their kinds', async () => {
    expect((await fill('pdf', await createPdf())).fields).toEqual([
      { name: 'name', kind: 'text', required: false },
      { name: 'agree', kind: 'checkbox', required: false },
      { name: 'city', kind: 'choice', options: ['Rome', 'Oslo'], required: false },
    ])
  })

  it('is filled, in scripts that its own font has not', async () => {
    const values = { name: 'Привет Ångström Ωμέγα', agree: true, city: 'Oslo' }
    const { bytes, unfilled } = await fill('pdf', await createPdf(), values)
    expect(unfilled).toEqual([])
    const form = (await PDFDocument.load(bytes ?? new Uint8Array())).getForm()
    expect(form.getTextField('name').getText()).toBe(values.name)
    expect(form.getCheckBox('agree').isChecked()).toBe(true)
    expect(form.getDropdown('city').getSelected()).toEqual(['Oslo'])
  })

  it('is drawn in letters that a PDF reader extracts unchanged', onlyLong, async () => {
    const values = { name: 'Привет Ångström Ωμέγα Ελλάς' }
    const { bytes } = await fill('pdf', await createPdf(), values)
    const pdf = await getDocument({ data: bytes ?? new Uint8Array(), verbosity: 0 }).promise
    const annotations: object[] = await (await pdf.getPage(1)).getAnnotations()
    expect(annotations).toContainEqual(
      expect.objectContaining({
        fieldName: 'name',
        fieldValue: values.name,
        textContent: [values.name],
      }),
    )
  })

  it.each([['no PDF', 'hello', 'The file is not a PDF']])(
    'that is %s is refused',
    async (_case, content, words) => {
      await expect(fill('pdf', content)).rejects.toThrow(new Refusal(words))
    },
  )

  it('describes a field’s label, length and options', async () => {
    const document = await PDFDocument.create()
    const page = document.addPage()
    const form = document.getForm()
    const text = form.createTextField('f1')
    text.addToPage(page)
    text.setMaxLength(11)
    text.enableRequired()
    text.acroField.dict.set(PDFName.of('TU'), PDFHexString.fromText('Número de\n identificación'))
    const choice = form.createDropdown('f2')
    choice.addToPage(page)
    choice.setOptions(['yes', 'no'])
    expect((await fill('pdf', await document.save())).fields).toEqual([
      { name: 'f1', kind: 'text', required: true, maxLength: 11, hint: 'Número de identificación' },
      { name: 'f2', kind: 'choice', options: ['yes', 'no'], required: false },
    ])
  })

  it('without fields is none', async () => {
    const document = await PDFDocument.create()
    document.addPage()
    await expect(fill('pdf', await document.save())).rejects.toThrow('no fields')
  })
})

describe('A Word form', () => {
  const paragraph = (...runs: string[]) =>
    `<w:p w:id="1">${runs.map((run) => `<w:r><w:rPr/><w:t>${run}</w:t></w:r>`).join('')}</w:p>`
  const docx = (...paragraphs: string[]) =>
    zipSync({
      'word/document.xml': strToU8(
        `<w:document><w:body>${paragraphs.join('')}</w:body></w:document>`,
      ),
      'word/styles.xml': strToU8('<w:styles/>'),
    })
  const xmlOf = (bytes: Uint8Array | undefined) =>
    strFromU8(unzipSync(bytes ?? new Uint8Array())['word/document.xml'] ?? new Uint8Array())

  it('has the placeholders of its paragraphs, also those spread over runs', async () => {
    const form = docx(paragraph('Dear {{na', 'me}},'), paragraph('on {{day}}'))
    expect((await fill('docx', form)).fields.map(({ name }) => name)).toEqual(['name', 'day'])
  })

  it('is filled, with the characters of XML escaped', async () => {
    const form = docx(paragraph('Dear {{na', 'me}},'), paragraph('As it was'))
    const xml = xmlOf((await fill('docx', form, { name: '李 & <co>' })).bytes)
    expect(xml).toContain('Dear 李 &amp; &lt;co&gt;,')
    expect(xml).toContain('<w:t>As it was</w:t>')
  })

  it('keeps its other parts', async () => {
    const { bytes } = await fill('docx', docx(paragraph('{{a}}')), { a: 'x' })
    expect(Object.keys(unzipSync(bytes ?? new Uint8Array()))).toEqual([
      'word/document.xml',
      'word/styles.xml',
    ])
  })

  it.each([
    ['no archive', Buffer.from('PK but no archive')],
    ['another archive', zipSync({ 'a.txt': strToU8('a') })],
  ])('that is %s is refused', async (_case, bytes) => {
    await expect(fill('docx', bytes)).rejects.toThrow('not a Word document')
  })

  it('is refused before it is unpacked if it would be too large', async () => {
    const large = { content: '<w:document/>', claimedSize: 49_000_000 }
    const bomb = zipFile(
      ['document', 'header1', 'footer1'].map((name) => ({ name: `word/${name}.xml`, ...large })),
    )
    await expect(fill('docx', bomb)).rejects.toThrow('unpacked file is too large')
  })
})

describe('A value in any script', () => {
  const VALUE = 'Ångström Ωμέγα Привет مَرْحَبًا שָׁלוֹם 東京 서울 สวัสดี नमस्ते 😀 👩‍💻 e\u0301'
  const docx = zipSync({
    'word/document.xml': strToU8(
      '<w:document><w:p><w:r><w:t>{{name}}</w:t></w:r></w:p></w:document>',
    ),
  })

  it.each<[FormKind, string | Uint8Array, (bytes: Uint8Array) => string]>([
    ['text', '{{name}}', (bytes) => textOf(bytes)],
    ['docx', docx, (bytes) => strFromU8(unzipSync(bytes)['word/document.xml'] ?? new Uint8Array())],
    [
      'schema',
      '{"properties":{"name":{"type":"string"}}}',
      (bytes) => JSON.parse(textOf(bytes)).name,
    ],
  ])(
    'stands in a form as it was given, where nothing has to be drawn: %s',
    async (kind, form, read) => {
      const { bytes, mistakes } = await fill(kind, form, { name: VALUE })
      expect(mistakes).toEqual([])
      expect(read(bytes ?? new Uint8Array())).toContain(VALUE)
    },
  )
})
