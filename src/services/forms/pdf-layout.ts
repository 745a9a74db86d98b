import { createRequire } from 'node:module'
import fontkit from '@cantoo/fontkit'
import {
  type AppearanceProviderFor,
  defaultTextFieldAppearanceProvider,
  PDFDict,
  type PDFDocument,
  type PDFField,
  type PDFFont,
  PDFHexString,
  PDFName,
  PDFStream,
  PDFTextField,
  type PDFWidgetAnnotation,
  setFontAndSize,
  showText,
} from '@cantoo/pdf-lib'
import type { default as CreateBidi } from 'bidi-js'
import type { LoadedFont } from '../../lib/text/fonts.ts'
import { type FormFonts, toDrawn } from './form-fonts.ts'

/** Points of the font, where the form leaves them open. */
const MAX_FONT_POINTS = 12
const MIN_FONT_POINTS = 4
/** Of the height of a frame: a larger font of this design would lose what goes below the line. */
const MAX_FONT_SHARE = 0.57
const LINE_HEIGHT = 1.2
/** Points between the frame of a field and its text. */
const PADDING = 3

/** A font of the document, with how it draws what goes in one direction. */
interface Face {
  font: PDFFont
  encode: (run: string) => PDFHexString
  measure: (run: string, size: number) => number
}

/** Draws fields that have got their values, in fonts of which the document gets no more than it needs. */
export function createFieldPen(document: PDFDocument, fonts: FormFonts) {
  const embedded = new Map<LoadedFont, Promise<Face>>()
  document.registerFontkit(fontkit)

  function embed(font: LoadedFont): Promise<Face> {
    const known = embedded.get(font) ?? embedNew(document, font)
    embedded.set(font, known)
    return known
  }

  async function mixFor(text: string, { font }: Face): Promise<Pen> {
    const used = fonts.partsOf(text, text).map((part) => part.font)
    const faces = new Map<LoadedFont, Face>()
    for (const one of used) faces.set(one, await embed(one))
    const piecesOf = (line: string) =>
      visualRuns(line)
        .flatMap((run) => fonts.partsOf(run, text))
        .flatMap((part) => {
          const face = faces.get(part.font)
          return face ? [{ face, run: part.text }] : []
        })
    return mixFaces(font, [...faces.values()], piecesOf)
  }

  return async (field: PDFField, text: string): Promise<void> => {
    const face = await embed(fonts.fontFor(text))
    if (!(field instanceof PDFTextField)) {
      if (field.needsAppearancesUpdate()) field.defaultUpdateAppearances(face.font)
      return
    }
    const drawn = toDrawn(text)
    const pen = fonts.isMixed(text) ? await mixFor(drawn, face) : penOf(face.font)
    const given = sizeOf(field)
    field.setText(drawn)
    // Writes down the size that it takes, so that the given one is read before.
    pen.draw(field)
    if (fonts.isMixed(text) || !fonts.isUsual(text)) layOut(field, { text: drawn, given }, pen)
    // What is read from the field is the text as it was given, whatever its lines are.
    field.acroField.setValue(PDFHexString.fromText(text))
  }
}

async function embedNew(document: PDFDocument, { bytes }: LoadedFont): Promise<Face> {
  const font = await document.embedFont(bytes, { subset: true })
  const encode = font.encodeText.bind(font)
  const measure = font.widthOfTextAtSize.bind(font)
  // The library shapes a line in one direction; here each piece of it gets its own.
  Object.assign(font, {
    encodeText: (line: string) =>
      PDFHexString.of(
        visualRuns(line)
          .map((run) => encode(run).asString())
          .join(''),
      ),
    widthOfTextAtSize: (line: string, size: number) =>
      visualRuns(line).reduce((width, run) => width + measure(run, size), 0),
  })
  return { font, encode, measure }
}

/** Draws what a field holds, by a font that also tells how wide a line gets. */
interface Pen {
  font: PDFFont
  draw(field: PDFTextField): void
}

const penOf = (font: PDFFont): Pen => ({ font, draw: (field) => field.updateAppearances(font) })

type Pieces = readonly { face: Face; run: string }[]

/** The library draws a field with one font. It is given one that leaves a mark for each line, which is then drawn by pieces. */
function mixFaces(main: PDFFont, faces: readonly Face[], piecesOf: (line: string) => Pieces): Pen {
  const lines = new Map<string, Pieces>()
  const font: PDFFont = Object.assign(Object.create(main), {
    encodeText(line: string) {
      const mark = PDFHexString.of(lines.size.toString(16).padStart(8, '0'))
      lines.set(`${mark} Tj`, piecesOf(line))
      return mark
    },
    widthOfTextAtSize: (line: string, size: number) =>
      piecesOf(line).reduce((width, { face, run }) => width + face.measure(run, size), 0),
  })
  const drawPieces: AppearanceProviderFor<PDFTextField> = (field, widget) => {
    const operators = defaultTextFieldAppearanceProvider(field, widget, font)
    if (!Array.isArray(operators)) throw new TypeError('A field has one appearance')
    let size = 0
    return operators.flatMap((operator) => {
      const written = operator.toString()
      size = Number(/ ([\d.]+) Tf$/.exec(written)?.[1] ?? size)
      const pieces = lines.get(written)
      if (!pieces) return [operator]
      return pieces.flatMap(({ face, run }) => [
        setFontAndSize(face.font.name, size),
        showText(face.encode(run)),
      ])
    })
  }
  return {
    font,
    draw(field) {
      field.updateAppearances(font, drawPieces)
      for (const widget of field.acroField.getWidgets()) addFonts(widget, faces)
    },
  }
}

/** The library names the one font that it knows of. */
function addFonts(widget: PDFWidgetAnnotation, faces: readonly Face[]): void {
  const { context } = widget.dict
  const appearance = context.lookup(widget.getAppearances()?.normal, PDFStream)
  const resources = appearance.dict.lookup(PDFName.of('Resources'), PDFDict)
  const named = resources.lookup(PDFName.of('Font'), PDFDict)
  for (const { font } of faces) named.set(PDFName.of(font.name), font.ref)
}

/** The library breaks lines at spaces alone, and takes the sizes of a font for those of Latin ones. */
function layOut(
  field: PDFTextField,
  { text, given }: { text: string; given: number },
  { font, draw }: Pen,
): void {
  const frame = field.acroField.getWidgets()[0]?.getRectangle()
  if (!frame || field.getMaxLength() !== undefined) return
  const [width, height] = [frame.width - 2 * PADDING, frame.height - 2 * PADDING]
  const isWithin = (line: string, size: number) => font.widthOfTextAtSize(line, size) <= width
  const linesAt = (size: number) =>
    field.isMultiline() ? breakLines(text, (line) => isWithin(line, size)) : [text]
  const fits = (size: number) => {
    const lines = linesAt(size)
    const isLow = lines.length * font.heightAtSize(size) * LINE_HEIGHT <= height
    return field.isMultiline() ? isLow : isWithin(text, size)
  }
  const most = field.isMultiline() ? MAX_FONT_POINTS : Math.floor(frame.height * MAX_FONT_SHARE)
  const size = largestThatFits(
    field.isMultiline() ? given || most : Math.min(given || most, most),
    fits,
  )
  field.setFontSize(size)
  field.setText(linesAt(size).join('\n'))
  draw(field)
}

/** The size that the form asks for; nought where it leaves it open. */
function sizeOf(field: PDFTextField): number {
  const appearance = field.acroField.getDefaultAppearance() ?? ''
  return Number(/([\d.]+)\s+Tf/.exec(appearance)?.[1] ?? 0)
}

function largestThatFits(largest: number, fits: (size: number) => boolean): number {
  for (let size = largest; size > MIN_FONT_POINTS; size -= 1) if (fits(size)) return size
  return MIN_FONT_POINTS
}

/** Signs of scripts that are written without spaces. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u3000-\u303f\uff00-\uffef]/u
/** They never begin a line. */
const CLOSING = /[\p{Pe}\p{Pf}、。，．！？：；ー々％]/u
/** They never end one. */
const OPENING = /[\p{Ps}\p{Pi}]/u

/** Breaks lines where one that goes on would not fit: at spaces, and between any two signs of scripts without them. */
export function breakLines(text: string, fits: (line: string) => boolean): string[] {
  return text.split(/\r?\n/).flatMap((line) => breakLine(line, fits))
}

function breakLine(line: string, fits: (line: string) => boolean): string[] {
  const lines: string[] = []
  let current = ''
  for (const piece of piecesOf(line)) {
    if (current !== '' && !fits((current + piece).trimEnd())) {
      lines.push(current.trimEnd())
      current = ''
    }
    current += piece
  }
  return [...lines, current]
}

/** What stays together: words with their space, and single signs with the punctuation that belongs to them. */
function piecesOf(line: string): string[] {
  const pieces: string[] = []
  let before = ''
  for (const sign of line) {
    const last = pieces.length - 1
    if (last >= 0 && !mayBreak(before, sign)) pieces[last] += sign
    else pieces.push(sign)
    before = sign
  }
  return pieces
}

function mayBreak(before: string, sign: string): boolean {
  if (CLOSING.test(sign) || OPENING.test(before) || /\s/.test(sign)) return false
  return /\s/.test(before) || UNSPACED.test(before) || UNSPACED.test(sign)
}

// The package is a function, but its types say that it has one.
const createBidi: typeof CreateBidi.default = createRequire(import.meta.url)('bidi-js')
const bidi = createBidi()
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}]/u

const OF_THE_SCRIPT = /([\p{Script=Arabic}\p{Script=Hebrew}]+)/u
const PICTURE = /[\u{1f000}-\u{1faff}]/gu
/** Of the same length. */
const NEUTRAL = '\u2603\u2603'

/**
 * A line as it is drawn from left to right, in pieces of one direction. Letters of a piece that goes from right
 * to left stay in the order of reading: whoever shapes them turns them round.
 */
export function visualRuns(line: string): string[] {
  if (!RIGHT_TO_LEFT.test(line)) return [line]
  // Halves of a sign would pass for letters.
  const resolved = bidi.getEmbeddingLevels(line.replaceAll(PICTURE, NEUTRAL))
  const isBackward = (index: number) => (resolved.levels[index] ?? 0) % 2 === 1
  const mirrored = bidi.getMirroredCharactersMap(line, resolved.levels)
  const charactersOf = (places: readonly number[]) =>
    places.map((place) => mirrored.get(place) ?? line[place] ?? '').join('')

  return runsOf(bidi.getReorderedIndices(line, resolved), isBackward).flatMap((places) => {
    const [first = 0] = places
    if (!isBackward(first)) return forwardPieces(charactersOf(places))
    const reading = charactersOf(places.toReversed())
    // Spaces and brackets by themselves are shaped from left to right.
    return RIGHT_TO_LEFT.test(reading) ? reading : reversed(reading)
  })
}

/** Digits of a script from right to left go from left to right, but are shaped like its letters. */
function forwardPieces(text: string): string[] {
  return text
    .split(OF_THE_SCRIPT)
    .filter((piece) => piece !== '')
    .map((piece) => (RIGHT_TO_LEFT.test(piece) ? reversed(piece) : piece))
}

function reversed(text: string): string {
  return Array.from(text).toReversed().join('')
}

/** Places in the order in which they are drawn, cut where it jumps or turns. */
function runsOf(order: readonly number[], isBackward: (index: number) => boolean): number[][] {
  const runs: number[][] = []
  for (const place of order) {
    const run = runs.at(-1)
    const last = run?.at(-1)
    const step = isBackward(place) ? -1 : 1
    const goesOn =
      last !== undefined && place === last + step && isBackward(last) === isBackward(place)
    if (goesOn) run?.push(place)
    else runs.push([place])
  }
  return runs
}
