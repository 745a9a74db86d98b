import { ExtractionError, type OcrEngine, type Recogniser, type Recognition } from './extracted.ts'
import { createPpOcr } from './recognition/pp-ocr.ts'
import { createTesseract } from './recognition/tesseract.ts'

/** Images of pages in a TIFF or PDF; a file with more has to be split. */
export const MAX_RECOGNISED_PAGES = 500
/** Smaller images within a document are logos and rules. */
export const MIN_PIXELS = 40_000

let current: { key: string; recogniser: Recogniser } | undefined

/** The single recogniser of this process, which starts its engine when the first image needs it. */
export function recogniserOf(engine: OcrEngine): Recogniser {
  const key = JSON.stringify(engine)
  if (current?.key === key) return current.recogniser
  const recogniser = createRecogniser(engine)
  current = { key, recogniser }
  return recogniser
}

function createRecogniser(engine: OcrEngine): Recogniser {
  if (engine.kind === 'pp-ocr') return createPpOcr(engine.directory)
  const tesseract = createTesseract(engine.languages)
  const other = engine.ppOcr === undefined ? undefined : createPpOcr(engine.ppOcr)
  return {
    async read(picture) {
      const result = await tesseract.read(picture)
      if (!other || !(result.isDoubtful || result.isUnreadable)) return result
      const better = await other.read(picture)
      return better.text === '' ? result : better
    },
  }
}

export function tooManyPages(): ExtractionError {
  return new ExtractionError(
    'file_too_complex',
    `More than ${MAX_RECOGNISED_PAGES} pages are scanned: send the file in parts`,
  )
}

/** The error for a file without text, which depends on whether recognition is on. */
export function nothingRead(recognition: Recognition | undefined): ExtractionError {
  return new ExtractionError(
    'empty_document',
    recognition
      ? `No text could be recognized reliably: the images may be too faint or damaged${languagesOf(recognition.engine)}`
      : 'The pages contain no text, and scanned pages are not read because OCR is disabled',
  )
}

/** What else may be the cause. */
const languagesOf = (engine: OcrEngine) =>
  engine.kind === 'pp-ocr'
    ? ''
    : `, or in another language than those of OCR_LANGUAGES (${engine.languages.join('+')})`
