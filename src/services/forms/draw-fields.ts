import fontkit from '@cantoo/fontkit'
import {
  type PDFDocument,
  type PDFField,
  type PDFFont,
  PDFHexString,
  PDFTextField,
} from '@cantoo/pdf-lib'
import { breakLines } from './break-lines.ts'
import { type FormFont, type FormFonts, toDrawn } from './form-fonts.ts'
import { visualRuns } from './visual-runs.ts'

/** Points of the font, where the form leaves them open. */
const LARGEST_OF_LINES = 12
const SMALLEST = 4
/** Of the height of a frame: a larger font of this design would lose what goes below the line. */
const LARGEST_SHARE = 0.57
const LINE_HEIGHT = 1.2
/** Points between the frame of a field and its text. */
const PADDING = 3

/** Draws fields that have got their values, in fonts of which the document gets no more than it needs. */
export function createFieldPen(document: PDFDocument, fonts: FormFonts) {
  const embedded = new Map<FormFont, Promise<PDFFont>>()
  document.registerFontkit(fontkit)

  function embed(font: FormFont): Promise<PDFFont> {
    const known = embedded.get(font) ?? embedNew(document, font)
    embedded.set(font, known)
    return known
  }

  return async (field: PDFField, text: string): Promise<void> => {
    const font = await embed(fonts.fontFor(text))
    if (!(field instanceof PDFTextField)) {
      if (field.needsAppearancesUpdate()) field.defaultUpdateAppearances(font)
      return
    }
    const given = sizeOf(field)
    field.setText(toDrawn(text))
    // Writes down the size that it takes, so that the given one is read before.
    field.updateAppearances(font)
    if (!fonts.isUsual(text)) layOut(field, { text: toDrawn(text), given }, font)
    // What is read from the field is the text as it was given, whatever its lines are.
    field.acroField.setValue(PDFHexString.fromText(text))
  }
}

async function embedNew(document: PDFDocument, { bytes }: FormFont): Promise<PDFFont> {
  const font = await document.embedFont(bytes, { subset: true })
  const encode = font.encodeText.bind(font)
  const measure = font.widthOfTextAtSize.bind(font)
  // The library shapes a line in one direction; here each piece of it gets its own.
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

/** The library breaks lines at spaces alone, and takes the sizes of a font for those of Latin ones. */
function layOut(
  field: PDFTextField,
  { text, given }: { text: string; given: number },
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
  const most = field.isMultiline() ? LARGEST_OF_LINES : Math.floor(frame.height * LARGEST_SHARE)
  const size = largestThatFits(
    field.isMultiline() ? given || most : Math.min(given || most, most),
    fits,
  )
  field.setFontSize(size)
  field.setText(linesAt(size).join('\n'))
  field.updateAppearances(font)
}

/** The size that the form asks for; nought where it leaves it open. */
function sizeOf(field: PDFTextField): number {
  const appearance = field.acroField.getDefaultAppearance() ?? ''
  return Number(/([\d.]+)\s+Tf/.exec(appearance)?.[1] ?? 0)
}

function largestThatFits(largest: number, fits: (size: number) => boolean): number {
  for (let size = largest; size > SMALLEST; size -= 1) if (fits(size)) return size
  return SMALLEST
}
