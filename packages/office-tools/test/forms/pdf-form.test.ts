import { PDFDocument } from '@cantoo/pdf-lib'
import { getDocument } from 'pdfjs-dist'
import { describe, expect, it } from 'vitest'
import { hasFonts } from '../../../../test/support/fonts.ts'
import { long, someOf } from '../../../../test/support/long.ts'
import { openPdfForm } from '../../src/forms/pdf-form.ts'
import { drawnText, fontSizes } from './drawn-text.ts'

interface Shape {
  multiline?: boolean
  width?: number
  fontSize?: number
  maxLength?: number
}

async function createForm({ multiline = false, width = 300, fontSize, maxLength }: Shape = {}) {
  const document = await PDFDocument.create()
  const page = document.addPage([400, 300])
  const form = document.getForm()
  const field = form.createTextField('text')
  if (multiline) field.enableMultiline()
  field.addToPage(page, { x: 20, y: 150, width, height: multiline ? 100 : 24 })
  if (fontSize !== undefined) field.setFontSize(fontSize)
  if (maxLength !== undefined) field.setMaxLength(maxLength)
  const city = form.createDropdown('city')
  city.addOptions(['東京', 'القاهرة', 'Oslo'])
  city.addToPage(page, { x: 20, y: 100, width: 100, height: 20 })
  return openPdfForm(await document.save())
}

const fill = async (text: string, shape: Shape = {}) => {
  const form = await createForm(shape)
  expect(form.check?.({ text })).toEqual([])
  return form.fill({ text })
}

/** What a reader of PDF, that did not write it, makes of the field. */
async function readBack(bytes: Uint8Array): Promise<object[]> {
  const pdf = await getDocument({ data: bytes.slice(), verbosity: 0 }).promise
  return (await pdf.getPage(1)).getAnnotations()
}

describe.skipIf(!hasFonts)('A value of a PDF form (needs the optional fonts)', () => {
  it.each(
    someOf(
      [
        ['Latin', 'Ångström žluťoučký ẞ Tiếng Việt'],
        ['Korean', '서울특별시 김철수 Kim'],
        ['emoji and symbols', 'ok ☺ 😀 ✓ €'],
        ['Japanese', '東京都渋谷区 山田太郎、カタカナ「ひらがな」'],
        ['Greek', 'Ωμέγα Ελλάς ἄνθρωπος'],
        ['Cyrillic', 'Привет, Щука Ґанок'],
        ['Armenian and Georgian', 'Հայաստան გამარჯობა'],
        ['simplified Chinese', '北京市朝阳区 Beijing 100000'],
        ['traditional Chinese', '臺灣臺北市國學'],
        ['Korean with Chinese characters', '大韓民國 서울'],
        ['characters of a wide form', 'ＡＢＣ１２３'],
      ],
      4,
    ),
  )(
    'is drawn character for character, and read as it was given: %s',
    long,
    async (_script, text) => {
      const bytes = await fill(text)
      const drawn = await drawnText(bytes, 'text')
      expect(drawn.text).toBe(text)
      expect(drawn.glyphs).not.toContain(0)
      expect(await readBack(bytes)).toContainEqual(
        expect.objectContaining({ fieldName: 'text', fieldValue: text, textContent: [text] }),
      )
    },
  )

  it.each(
    someOf(
      [
        ['Hebrew', 'שלום עולם', 'םלוע םולש'],
        ['Hebrew with a number and brackets', 'שלום 2026 (ok) עולם', 'םלוע (ok) 2026 םולש'],
        ['Hebrew in brackets', '(שלום) [עולם] 12-34', '12-34 [םלוע] (םולש)'],
        ['Hebrew within Latin', 'to שלום עולם, 7', 'to 7 ,םלוע םולש'],
        ['Persian with its digits', 'دو ۱۲۳', '۱۲۳ ود'],
        ['Hebrew with a picture', 'אב 😀 ok', 'ok 😀 בא'],
        ['brackets alone between numbers', 'א (1) ב', 'ב (1) א'],
      ],
      4,
    ),
  )('goes from right to left: %s', long, async (_script, text, fromTheLeft) => {
    const bytes = await fill(text)
    const drawn = await drawnText(bytes, 'text')
    expect(drawn.text).toBe(fromTheLeft)
    expect(drawn.glyphs).not.toContain(0)
    expect(await readBack(bytes)).toContainEqual(expect.objectContaining({ fieldValue: text }))
  })

  it('in Arabic has joined letters, from right to left, and its numbers from left to right', async () => {
    const text = 'مرحبا بالعالم 123'
    const drawn = await drawnText(await fill(text), 'text')
    expect(drawn.text).toBe('123 ملاعلاب ابحرم')
    // The same letter looks otherwise at the beginning, within, and at the end of a word.
    const [one, two, three] = await Promise.all(
      ['ب', 'ببب', 'لا'].map(async (word) => drawnText(await fill(word), 'text')),
    )
    expect(new Set(two?.glyphs)).toHaveLength(3)
    expect(one?.glyphs).toHaveLength(1)
    // Two letters, one glyph.
    expect(three?.glyphs).toHaveLength(1)
    expect(drawn.glyphs).not.toContain(0)
  })

  it('with marks is drawn with the letters that have them, and without what has no form', async () => {
    const drawn = await drawnText(await fill('e\u0301 n\u0303 \u0007\u05d0'), 'text')
    expect(drawn.text).toBe('é ñ א')
  })

  it('is chosen from a list in any script, too', async () => {
    const form = await createForm()
    for (const [city, shown] of [
      ['東京', '東京'],
      ['القاهرة', 'ةرهاقلا'],
    ]) {
      expect((await drawnText(await form.fill({ city: city ?? '' }), 'city')).text).toBe(shown)
    }
  })

  it.each(someOf(['서울 Seoul', '東京 Tokyo', '東京都渋谷区恵比寿南一丁目二番三号'], 1))(
    'is drawn in a size that its frame holds: %s',
    long,
    async (text) => {
      const { size } = await drawnText(await fill(text, { width: 160 }), 'text')
      expect(size).toBeGreaterThanOrEqual(8)
      expect(size * [...text].length * 0.5).toBeLessThan(160)
      expect(size).toBeLessThan(24 * 0.6)
    },
  )

  it('embeds only the glyphs that it needs', async () => {
    const sizes = [
      ...(await fontSizes(await fill('東京 Привет'))),
      ...(await fontSizes(await fill('Ω'))),
    ]
    expect(sizes).toHaveLength(2)
    expect(Math.max(...sizes)).toBeLessThan(50_000)
  })

  it.each(['text', 'city'])('is refused where no single font has all glyphs: %s', async (name) => {
    const form = await createForm()
    expect(form.check?.({ [name]: '서울 北京 你们' })).toEqual([
      expect.stringContaining(`${name}: no single font has a glyph for all of it: `),
    ])
  })
})

describe.skipIf(!hasFonts)('A value of several lines (needs the optional fonts)', () => {
  const LONG = '这是一个很长的句子，没有空格，所以需要在任何字符之间换行，否则会超出字段。'

  it.each(
    someOf(
      [
        ['in a size that fits', {}],
        ['in the size of the form', { fontSize: 12 }],
      ],
      1,
    ),
  )('is broken between Chinese characters, %s, and stays one text', long, async (_case, shape) => {
    const bytes = await fill(LONG, { multiline: true, width: 120, ...shape })
    const { text, lines, size } = await drawnText(bytes, 'text')
    expect(lines).toBeGreaterThan(3)
    expect(text).toBe(LONG)
    expect(size * lines).toBeLessThan(100)
    expect(await readBack(bytes)).toContainEqual(expect.objectContaining({ fieldValue: LONG }))
  })

  it('is broken at spaces if it has any', async () => {
    const bytes = await fill('one two three four five six', {
      multiline: true,
      width: 60,
      fontSize: 12,
    })
    expect((await drawnText(bytes, 'text')).lines).toBeGreaterThan(2)
  })

  it('keeps its line breaks', async () => {
    const bytes = await fill('北京\n上海', { multiline: true, fontSize: 12 })
    expect((await drawnText(bytes, 'text')).lines).toBe(2)
    expect(await readBack(bytes)).toContainEqual(
      expect.objectContaining({ fieldValue: '北京\n上海' }),
    )
  })
})

describe('A value that cannot be drawn correctly', () => {
  it.each([
    ['สวัสดี', /^text: the script of ส ว ั . cannot be drawn|^text: the script of/],
    ['नमस्ते', /^text: the script of न म/],
    ['ລາວ', /^text: the script of ລ/],
    ['שָׁלוֹם', /^text: the marks .* cannot be placed/],
    ['مَرْحَبًا', /^text: the marks .* cannot be placed/],
    ['q\u0303', /^text: the marks/],
    ['𝒳🦜', /^text: the font has no glyph for 𝒳 🦜$/],
    ['👩‍💻', /^text: the font has no glyph for 👩/],
  ])('is refused with the reason: %j', async (text, reason) => {
    const form = await createForm()
    expect(form.check?.({ text })).toEqual([expect.stringMatching(reason)])
  })

  it('names a few of many characters that are missing', async () => {
    const form = await createForm()
    const [mistake = ''] = form.check?.({ text: '🦜🦚🦩🦢🦉🦤🪶🦇🐺🦊🐗🐴🦄' }) ?? []
    expect(mistake).toMatch(/ …$/)
    expect(mistake.length).toBeLessThan(80)
  })

  it('is refused if it is longer than the field allows', async () => {
    const form = await createForm({ maxLength: 3 })
    expect(form.check?.({ text: 'abcd' })).toEqual(['text: must not have more than 3 characters'])
    expect(form.check?.({ text: 'abc' })).toEqual([])
  })
})
