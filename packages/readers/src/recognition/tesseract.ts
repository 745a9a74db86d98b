import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import type { Recognised, Recogniser } from '../extracted.ts'
import { languageData } from './installed.ts'
import { damagedPicture } from './pictures.ts'
import { type Core, startCore } from './tesseract-core.ts'

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
/** Percent: a word below it is a guess. */
const MIN_WORD_CONFIDENCE = 60
/** The share of guesses, and of words that the dictionary lacks, from which on a text is doubtful. */
const [MAX_GUESSED, MAX_UNKNOWN] = [0.2, 0.2]
/** Fewer words prove nothing. */
const MIN_WORDS = 6
/** Places of a word's confidence and text in a line of Tesseract's table, and the level of lines for words. */
const [CONFIDENCE, TEXT, WORD_LEVEL] = [10, 11, '5']
/** Names and abbreviations begin with other letters, and are in no dictionary. */
const USUAL_WORD = /^\p{Ll}{3,}(?=[.,;:!?)]?$)/u
/** Tesseract's ways to tell ink from paper: at one grey for the page, or at that of the surroundings (Sauvola). */
const [WHOLE_PAGE, BY_SURROUNDINGS] = ['0', '2']
/** More ink than this share of a page is shadow. */
const MAX_INK = 0.25
/** Upright, a quarter turn right, a quarter turn left, upside down, in EXIF numbers. */
const TURNS = [1, 6, 8, 3]

export function createTesseract(languages: readonly string[]): Recogniser {
  let engine: Promise<Engine> | undefined
  let count = 0

  return {
    async read(picture: Uint8Array): Promise<Recognised> {
      if (count++ % MAX_PICTURES_PER_ENGINE === 0) engine = undefined
      engine ??= startEngine(languages)
      const { text, confidence, isDoubtful } = bestOf(await engine, picture)
      const isUnreadable = text !== '' && confidence < MIN_CONFIDENCE
      return {
        text: isUnreadable ? '' : text,
        isUnreadable,
        isDoubtful: isDoubtful && !isUnreadable,
      }
    },
  }
}

interface Engine {
  core: Core
  memory: { buffer: ArrayBuffer }
  api: InstanceType<Core['TessBaseAPI']>
}

async function startEngine(languages: readonly string[]): Promise<Engine> {
  const { core, memory } = await startCore()
  for (const language of languages) {
    const path = languageData(language)
    if (path === undefined) throw new Error(`There is no package @tesseract.js-data/${language}`)
    core.FS.writeFile(`${language}.traineddata`, gunzipSync(await readFile(path)))
  }
  const api = new core.TessBaseAPI()
  if (api.Init(null, languages.join('+'), NEURAL) !== 0)
    throw new Error('Recognition did not start')
  return { core, memory, api }
}

interface Reading {
  text: string
  confidence: number
  /** How many words are no guesses. */
  sure: number
  isDoubtful: boolean
}

const NOTHING: Reading = { text: '', confidence: 0, sure: 0, isDoubtful: false }

function bestOf({ core, memory, api }: Engine, picture: Uint8Array): Reading {
  core.FS.writeFile('/input', picture)
  api.SetVariable('thresholding_method', WHOLE_PAGE)
  if (api.SetImageFile(TURNS[0] ?? 1, 0) === 1) throw damagedPicture()
  const isShaded = inkOf(api.GetThresholdedImage(), memory) > MAX_INK
  let best = readUpright(api)
  if (isShaded) {
    api.SetVariable('thresholding_method', BY_SURROUNDINGS)
    const other = readUpright(api)
    if (other.sure > best.sure) best = other
  }
  api.Clear()
  core.FS.writeFile('/input', new Uint8Array())
  return best
}

function readUpright(api: Engine['api']): Reading {
  let best = NOTHING
  for (const turn of TURNS) {
    const reading = readTurned(api, turn)
    if (reading.confidence > best.confidence) best = reading
    if (best.confidence >= SURE_CONFIDENCE) break
  }
  return best
}

/** The share of the pixels of a picture of one bit each that are black. */
function inkOf(
  picture: ReturnType<Engine['api']['GetThresholdedImage']>,
  memory: Engine['memory'],
) {
  const [width, height] = [picture.get_w(), picture.get_h()]
  const words = new Uint32Array(memory.buffer, picture.get_data(), picture.get_wpl() * height)
  let black = 0
  for (const word of words) black += onesIn(word)
  return black / (width * height)
}

/** The bits of a word that are set, added in pairs, then in fours, then in eights. */
function onesIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555)
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333)
  return (((fours + (fours >>> 4)) & 0x0f0f_0f0f) * 0x0101_0101) >>> 24
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
  if (text === '') return NOTHING
  return { text, confidence: api.MeanTextConf(), ...doubtsOf(api) }
}

/** How many words are sure; and whether many are guesses, or none of the language. */
function doubtsOf(api: Engine['api']): Pick<Reading, 'sure' | 'isDoubtful'> {
  const words = api
    .GetTSVText(0)
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([level, ...more]) => level === WORD_LEVEL && more[TEXT - 1]?.trim())
  const sure = words.filter((word) => Number(word[CONFIDENCE]) >= MIN_WORD_CONFIDENCE).length
  const usual = words.flatMap((word) => USUAL_WORD.exec(word[TEXT]?.trim() ?? '') ?? [])
  const unknown = usual.filter((word) => api.IsValidWord(word) === 0).length
  const isGuessed = words.length >= MIN_WORDS && words.length - sure > words.length * MAX_GUESSED
  const isForeign = usual.length >= MIN_WORDS && unknown > usual.length * MAX_UNKNOWN
  return { sure, isDoubtful: isGuessed || isForeign }
}

/** The columns of a table are narrower than those of prose, and their lines belong together. */
function isProse(text: string): boolean {
  const lines = text.split(/\n+/)
  return text.length >= lines.length * MIN_PROSE_LINE
}
