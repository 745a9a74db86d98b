import {
  decodePDFRawStream,
  PDFArray,
  PDFDict,
  PDFDocument,
  PDFName,
  PDFRawStream,
  PDFRef,
} from '@cantoo/pdf-lib'

export interface DrawnText {
  /** Numbers of the glyphs in their font, from left to right; nought is the box of a character that is missing. */
  glyphs: number[]
  /** What the glyphs stand for, from left to right. */
  text: string
  lines: number
  /** Of the font, in points. */
  size: number
}

/** What a PDF draws for a field, as its own font tells. */
export async function drawnText(bytes: Uint8Array, name: string): Promise<DrawnText> {
  const { context, ...document } = await loaded(bytes)
  const [widget] = document.form.getField(name).acroField.getWidgets()
  const appearance = streamOf(context.lookup(widget?.getAppearances()?.normal))
  const content = Buffer.from(decodePDFRawStream(appearance).decode()).toString('latin1')
  const fonts = context.lookup(
    context.lookup(appearance.dict.get(PDFName.of('Resources')), PDFDict).get(PDFName.of('Font')),
    PDFDict,
  )
  const charactersIn = (fontName: string) => {
    const font = context.lookup(fonts.get(PDFName.of(fontName)), PDFDict)
    const toUnicode = streamOf(context.lookup(font.get(PDFName.of('ToUnicode'))))
    return signsOf(Buffer.from(decodePDFRawStream(toUnicode).decode()).toString('latin1'))
  }
  let characters = new Map<number, string>()
  const drawn: [number, string][] = []
  let strings = 0
  for (const [, fontName, hex = ''] of content.matchAll(/\/(\S+) [\d.]+ Tf|<([0-9A-Fa-f]*)> Tj/g)) {
    if (fontName !== undefined) characters = charactersIn(fontName)
    else strings += 1
    for (const digits of hex.match(/.{4}/g) ?? []) {
      const glyph = Number.parseInt(digits, 16)
      drawn.push([glyph, characters.get(glyph) ?? '\ufffd'])
    }
  }
  return {
    glyphs: drawn.map(([glyph]) => glyph),
    text: drawn.map(([, character]) => character).join(''),
    lines: strings,
    size: Number(/ ([\d.]+) Tf/.exec(content)?.[1]),
  }
}

/** The sizes of the fonts that a PDF brings, in bytes. */
export async function fontSizes(bytes: Uint8Array): Promise<number[]> {
  const { context } = await loaded(bytes)
  return context.enumerateIndirectObjects().flatMap(([, object]) => {
    if (!(object instanceof PDFDict)) return []
    const file = object.get(PDFName.of('FontFile2')) ?? object.get(PDFName.of('FontFile3'))
    const stream = file instanceof PDFRef ? context.lookup(file) : undefined
    return stream instanceof PDFRawStream ? [stream.getContentsSize()] : []
  })
}

async function loaded(bytes: Uint8Array) {
  const document = await PDFDocument.load(bytes)
  return { context: document.context, form: document.getForm() }
}

function streamOf(object: unknown): PDFRawStream {
  if (object instanceof PDFRawStream) return object
  if (object instanceof PDFArray) throw new Error('A stream is expected, not an array')
  throw new Error('A stream is expected')
}

/** The table of a font that says what its glyphs stand for. */
function signsOf(table: string): Map<number, string> {
  const lines = table.matchAll(/<([0-9A-Fa-f]{4})> <([0-9A-Fa-f]+)>\s*$/gm)
  return new Map(
    Array.from(lines, ([, glyph = '', units = '']) => [
      Number.parseInt(glyph, 16),
      Buffer.from(units, 'hex').swap16().toString('utf16le'),
    ]),
  )
}
