import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { gunzipSync } from 'node:zlib'
import { SetupError } from '../../errors.ts'
import { ExtractionError, type Recognition } from './extracted.ts'

const require = createRequire(import.meta.url)
/** A2 at 300 dpi has about 35 million pixels; nothing larger than this is a page. */
export const MAX_PIXELS = 60_000_000
/** Smaller images within a document are logos and rules. */
export const MIN_PIXELS = 40_000
/** Images of pages in a TIFF or PDF; a file with more has to be split. */
export const MAX_RECOGNISED_PAGES = 500
/** The recogniser's average confidence in its words, of 100; below this, what it reads is noise. */
const MIN_CONFIDENCE = 55
/** From this confidence on, an image is not also tried in its other three orientations. */
const SURE_CONFIDENCE = 75
/** Radians; a smaller skew does not affect recognition. */
const MIN_SLOPE = 0.005
/** Tesseract's page segmentation modes: into columns that are read one after the other, or as a single block. */
const [IN_COLUMNS, ACROSS] = [3, 6]
/** Average characters per line; with fewer, the columns belong to a table and not to prose. */
const MIN_PROSE_LINE = 20
/** Tesseract's neural engine (LSTM), for which the data is made; 0 would be the older engine. */
const NEURAL = 1
/** An engine keeps some 20 MB of each image, so it is replaced after this many; starting one takes half a second. */
const MAX_PICTURES_PER_ENGINE = 10
/** Upright, a quarter turn right, a quarter turn left, upside down, in EXIF numbers. */
const TURNS = [1, 6, 8, 3]

/** The part of the compiled program that is used here. */
interface Core {
  FS: { writeFile(path: string, bytes: Uint8Array): void; unlink(path: string): void }
  TessBaseAPI: new () => {
    Init(path: null, languages: string, engine: number): number
    /** Reads `/input`; returns 1 if it is not a supported image. */
    SetImageFile(orientation: number, radians: number): number
    SetPageSegMode(layout: number): void
    FindLines(): void
    GetGradient(): number
    Recognize(monitor: null): number
    GetUTF8Text(): string
    MeanTextConf(): number
    Clear(): void
  }
}

export interface Recognised {
  /** Empty if it could not be read with confidence. */
  text: string
  /** Whether there is text that could not be read with confidence. */
  isUnreadable: boolean
}

type Recogniser = ReturnType<typeof createRecogniser>

let kept: { languages: string; made: Recogniser } | undefined

/** The single recogniser of this process, created when the first image needs it. */
export function recogniserOf(languages: readonly string[]): Recogniser {
  const key = languages.join('+')
  if (kept?.languages !== key) kept = { languages: key, made: createRecogniser(languages) }
  return kept.made
}

/** The languages that a setting names (`eng+deu`). Throws a SetupError for one whose package is missing. */
export function installedLanguages(setting: string): string[] {
  const languages = setting.split(/[ ,+]/)
  const missing = languages.filter((language) => languageData(language) === undefined)
  if (missing.length === 0) return languages
  const packages = missing.map((language) => `@tesseract.js-data/${language}`).join(' ')
  throw new SetupError(`OCR_LANGUAGES needs a package: npm install ${packages}`)
}

/** The path of a language's data; undefined if its package is not installed. */
function languageData(language: string): string | undefined {
  try {
    const path = `@tesseract.js-data/${language}/4.0.0_best_int/${language}.traineddata.gz`
    return require.resolve(path)
  } catch {
    return undefined
  }
}

function createRecogniser(languages: readonly string[]) {
  let engine: Promise<Engine> | undefined
  let read = 0

  return {
    /** Reads a PNG, JPEG, WebP, BMP or PNM, even if it is rotated or skewed. Throws `damaged_file`. */
    async read(picture: Uint8Array): Promise<Recognised> {
      if (read++ % MAX_PICTURES_PER_ENGINE === 0) engine = undefined
      engine ??= startEngine(languages)
      const { text, confidence } = bestOf(await engine, picture)
      const isUnreadable = text !== '' && confidence < MIN_CONFIDENCE
      return { text: isUnreadable ? '' : text, isUnreadable }
    },
  }
}

interface Engine {
  core: Core
  api: InstanceType<Core['TessBaseAPI']>
}

async function startEngine(languages: readonly string[]): Promise<Engine> {
  const createCore: (
    options: object,
  ) => Promise<Core> = require('tesseract.js-core/tesseract-core-simd-lstm')
  const core = await createCore({ print: () => undefined, printErr: () => undefined })
  for (const language of languages) {
    const path = languageData(language)
    if (path === undefined) throw new Error(`There is no package @tesseract.js-data/${language}`)
    core.FS.writeFile(`${language}.traineddata`, gunzipSync(await readFile(path)))
  }
  const api = new core.TessBaseAPI()
  if (api.Init(null, languages.join('+'), NEURAL) !== 0)
    throw new Error('Recognition did not start')
  return { core, api }
}

interface Reading {
  text: string
  confidence: number
}

function bestOf({ core, api }: Engine, picture: Uint8Array): Reading {
  core.FS.writeFile('/input', picture)
  if (api.SetImageFile(TURNS[0] ?? 1, 0) === 1) throw damagedPicture()
  let best: Reading = { text: '', confidence: 0 }
  for (const turn of TURNS) {
    const read = readTurned(api, turn)
    if (read.confidence > best.confidence) best = read
    if (best.confidence >= SURE_CONFIDENCE) break
  }
  api.Clear()
  core.FS.writeFile('/input', new Uint8Array())
  return best
}

function readTurned(api: Engine['api'], turn: number): Reading {
  api.SetPageSegMode(IN_COLUMNS)
  api.SetImageFile(turn, 0)
  api.FindLines()
  const gradient = api.GetGradient()
  const slope = Math.abs(gradient) >= MIN_SLOPE ? gradient : 0
  const inColumns = readAs(api, IN_COLUMNS, turn, slope)
  if (isProse(inColumns.text)) return inColumns
  return readAs(api, ACROSS, turn, slope)
}

function readAs(api: Engine['api'], layout: number, turn: number, slope: number): Reading {
  api.SetPageSegMode(layout)
  api.SetImageFile(turn, slope)
  api.Recognize(null)
  const text = api
    .GetUTF8Text()
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
  return { text, confidence: text === '' ? 0 : api.MeanTextConf() }
}

/** The columns of a table are narrower than those of prose, and their lines belong together. */
function isProse(text: string): boolean {
  const lines = text.split(/\n+/)
  return text.length >= lines.length * MIN_PROSE_LINE
}

export function damagedPicture(cause?: unknown): ExtractionError {
  return new ExtractionError(
    'damaged_file',
    'The image is damaged or in an unsupported format',
    cause,
  )
}

/** Throws `file_too_complex` for an image that is larger than any page, and `damaged_file` for one without a size. */
export function refuseSize(width: number, height: number): void {
  if (!(width > 0 && height > 0)) throw damagedPicture()
  if (width * height <= MAX_PIXELS) return
  const millions = MAX_PIXELS / 1_000_000
  throw new ExtractionError(
    'file_too_complex',
    `The image has more than ${millions} million pixels`,
  )
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

/** Encodes a grey image as a file (PNM) that the recogniser reads. */
export function greyPicture(width: number, height: number, grey: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), grey])
}

/** Converts pixels in RGB, or RGBA on a white background, to grey. */
export function toGrey(pixels: Uint8Array | Uint8ClampedArray, channels: 3 | 4): Uint8Array {
  const grey = new Uint8Array(Math.floor(pixels.length / channels))
  for (let i = 0, from = 0; i < grey.length; i++, from += channels) {
    const [red = 0, green = 0, blue = 0] = [pixels[from], pixels[from + 1], pixels[from + 2]]
    const light = 0.299 * red + 0.587 * green + 0.114 * blue
    const opacity = channels === 4 ? (pixels[from + 3] ?? 255) / 255 : 1
    grey[i] = light * opacity + 255 * (1 - opacity)
  }
  return grey
}
