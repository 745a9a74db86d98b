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
/** Upright, a quarter turn right, a quarter turn left, upside down, in EXIF numbers. */
const TURNS = [1, 6, 8, 3]

export function createTesseract(languages: readonly string[]): Recogniser {
  let engine: Promise<Engine> | undefined
  let count = 0

  return {
    async read(picture: Uint8Array): Promise<Recognised> {
      if (count++ % MAX_PICTURES_PER_ENGINE === 0) engine = undefined
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
  const { core } = await startCore()
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
    const reading = readTurned(api, turn)
    if (reading.confidence > best.confidence) best = reading
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
