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
  const recogniser =
    engine.kind === 'pp-ocr' ? createPpOcr(engine.directory) : createTesseract(engine.languages)
  current = { key, recogniser }
  return recogniser
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
      ? 'No text could be recognized reliably: the images may be too faint or damaged'
      : 'The pages contain no text, and scanned pages are not read because OCR is disabled',
  )
}
