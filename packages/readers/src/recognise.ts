import { ExtractionError, type OcrEngine, type Recogniser, type Recognition } from './extracted.ts'
import { createPpOcr, ppOcrDirectory } from './recognition/pp-ocr.ts'
import { createTesseract, installedLanguages } from './recognition/tesseract.ts'

/** Images of pages in a TIFF or PDF; a file with more has to be split. */
export const MAX_RECOGNISED_PAGES = 500
/** Smaller images within a document are logos and rules. */
export const MIN_PIXELS = 40_000

/** The engine that a setting names, with its languages (`eng+deu`). Throws a SetupError if it is not installed. */
export function installedOcr(kind: OcrEngine['kind'], languages: string): OcrEngine {
  if (kind === 'pp-ocr') return { kind, directory: ppOcrDirectory() }
  return { kind, languages: installedLanguages(languages) }
}

let kept: { key: string; made: Recogniser } | undefined

/** The single recogniser of this process, which starts its engine when the first image needs it. */
export function recogniserOf(engine: OcrEngine): Recogniser {
  const key = JSON.stringify(engine)
  if (kept?.key === key) return kept.made
  const made =
    engine.kind === 'pp-ocr' ? createPpOcr(engine.directory) : createTesseract(engine.languages)
  kept = { key, made }
  return made
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
