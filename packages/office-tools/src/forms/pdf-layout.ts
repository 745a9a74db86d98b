import { createRequire } from 'node:module'
import type { LoadedFont } from '@agent-server/lib/text/fonts.ts'
import fontkit from '@cantoo/fontkit'
import {
  type PDFDocument,
  type PDFField,
  type PDFFont,
  PDFHexString,
  PDFTextField,
} from '@cantoo/pdf-lib'
import type { default as CreateBidi } from 'bidi-js'
import { type FormFonts, toDrawn } from './form-fonts.ts'

/** Font sizes in points, for fields without a fixed size. */
const MAX_FONT_POINTS = 12
const MIN_FONT_POINTS = 4
/** Share of the field's height: in a larger size, this font's descenders would be cut off. */
const MAX_FONT_SHARE = 0.57
const LINE_HEIGHT = 1.2
/** Points between the frame of a field and its text. */
const PADDING = 3

/** Draws the appearance of filled fields; only the needed subsets of fonts are embedded. */
export function createFieldPen(document: PDFDocument, fonts: FormFonts) {
  const embedded = new Map<LoadedFont, Promise<PDFFont>>()
  document.registerFontkit(fontkit)

  return async (field: PDFField, text: string): Promise<void> => {
    const match = fonts.fontFor(text)
    const embedding = embedded.get(match) ?? embed(document, match)
    embedded.set(match, embedding)
    const font = await embedding
    if (!(field instanceof PDFTextField)) {
      if (field.needsAppearancesUpdate()) field.defaultUpdateAppearances(font)
      return
    }
    const visualText = toDrawn(text)
    const formSize = sizeOf(field)
    field.setText(visualText)
    // Drawing stores the size that it chose, which is why the form's size is read before.
    field.updateAppearances(font)
    if (!fonts.isDefault(text)) layOut(field, { text: visualText, formSize }, font)
    // The stored value is the text as given, regardless of how it was broken into lines.
    field.acroField.setValue(PDFHexString.fromText(text))
  }
}

async function embed(document: PDFDocument, { bytes }: LoadedFont): Promise<PDFFont> {
  const font = await document.embedFont(bytes, { subset: true })
  const encode = font.encodeText.bind(font)
  const measure = font.widthOfTextAtSize.bind(font)
  // The library shapes a line in a single direction; here each run is shaped in its own.
  return Object.assign(font, {
    encodeText: (line: string) =>
      PDFHexString.of(
        visualRuns(line)
          .map((run) => encode(run).asString())
          .join(''),
      ),
    widthOfTextAtSize: (line: string, size: number) =>
      visualRuns(line).reduce((width, run) => width + measure(run, size), 0),
  })
}

/** Lays out a text again, since the library breaks lines only at spaces, and assumes the proportions of Latin fonts. */
function layOut(
  field: PDFTextField,
  { text, formSize }: { text: string; formSize: number },
  font: PDFFont,
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
    field.isMultiline() ? formSize || most : Math.min(formSize || most, most),
    fits,
  )
  field.setFontSize(size)
  field.setText(linesAt(size).join('\n'))
  field.updateAppearances(font)
}

/** The font size that the form specifies; 0 if it is automatic. */
function sizeOf(field: PDFTextField): number {
  const appearance = field.acroField.getDefaultAppearance() ?? ''
  return Number(/([\d.]+)\s+Tf/.exec(appearance)?.[1] ?? 0)
}

function largestThatFits(largest: number, fits: (size: number) => boolean): number {
  for (let size = largest; size > MIN_FONT_POINTS; size -= 1) if (fits(size)) return size
  return MIN_FONT_POINTS
}

/** Characters of scripts that are written without spaces. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u3000-\u303f\uff00-\uffef]/u
/** Characters that must not begin a line. */
const CLOSING = /[\p{Pe}\p{Pf}、。，．！？：；ー々％]/u
/** Characters that must not end a line. */
const OPENING = /[\p{Ps}\p{Pi}]/u

/** Breaks lines that would not fit: at spaces, and between any two characters of scripts written without spaces. */
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

/** Splits a line into unbreakable pieces: words with their space, and single characters with their punctuation. */
function piecesOf(line: string): string[] {
  const pieces: string[] = []
  let before = ''
  for (const character of line) {
    const last = pieces.length - 1
    if (last >= 0 && !mayBreak(before, character)) pieces[last] += character
    else pieces.push(character)
    before = character
  }
  return pieces
}

function mayBreak(before: string, character: string): boolean {
  if (CLOSING.test(character) || OPENING.test(before) || /\s/.test(character)) return false
  return /\s/.test(before) || UNSPACED.test(before) || UNSPACED.test(character)
}

// The package exports a function, but its types declare a default export.
const createBidi: typeof CreateBidi.default = createRequire(import.meta.url)('bidi-js')
const bidi = createBidi()
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}]/u

const OF_THE_SCRIPT = /([\p{Script=Arabic}\p{Script=Hebrew}]+)/u
const PICTURE = /[\u{1f000}-\u{1faff}]/gu
/** As long as a pair of surrogates. */
const NEUTRAL = '\u2603\u2603'

/**
 * Splits a line into runs of one direction, in visual order from left to right. The characters of a right-to-left run
 * stay in logical order: shaping reverses them.
 */
export function visualRuns(line: string): string[] {
  if (!RIGHT_TO_LEFT.test(line)) return [line]
  // Lone halves of surrogate pairs would be taken for letters.
  const resolved = bidi.getEmbeddingLevels(line.replaceAll(PICTURE, NEUTRAL))
  const isBackward = (index: number) => (resolved.levels[index] ?? 0) % 2 === 1
  const mirrored = bidi.getMirroredCharactersMap(line, resolved.levels)
  const charactersOf = (places: readonly number[]) =>
    places.map((place) => mirrored.get(place) ?? line[place] ?? '').join('')

  return runsOf(bidi.getReorderedIndices(line, resolved), isBackward).flatMap((places) => {
    const [first = 0] = places
    if (!isBackward(first)) return forwardPieces(charactersOf(places))
    const reading = charactersOf(places.toReversed())
    // Spaces and brackets alone are shaped from left to right.
    return RIGHT_TO_LEFT.test(reading) ? reading : reversed(reading)
  })
}

/** Digits of a right-to-left script run from left to right, but are shaped like its letters. */
function forwardPieces(text: string): string[] {
  return text
    .split(OF_THE_SCRIPT)
    .filter((piece) => piece !== '')
    .map((piece) => (RIGHT_TO_LEFT.test(piece) ? reversed(piece) : piece))
}

function reversed(text: string): string {
  return Array.from(text).toReversed().join('')
}

/** Groups indexes in visual order into runs, which end where the order jumps or changes direction. */
function runsOf(order: readonly number[], isBackward: (index: number) => boolean): number[][] {
  const runs: number[][] = []
  for (const place of order) {
    const run = runs.at(-1)
    const last = run?.at(-1)
    const step = isBackward(place) ? -1 : 1
    const isSameLine =
      last !== undefined && place === last + step && isBackward(last) === isBackward(place)
    if (isSameLine) run?.push(place)
    else runs.push([place])
  }
  return runs
}
