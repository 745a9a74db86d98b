import { availableParallelism } from 'node:os'
import { readChecked } from '@agent-server/lib/checked-file.ts'
import type { InferenceSession, Tensor } from 'onnxruntime-node'
import type { Recognised, Recogniser } from '../extracted.ts'
import { decodePage, greyAt, type Page, turnOver, turnRight } from './page.ts'
import { startCore } from './tesseract-core.ts'
import { boxesIn, type TextBox } from './text-boxes.ts'
import { linesOf, type ReadBox } from './text-lines.ts'

// PP-OCR: https://arxiv.org/abs/2009.09941. One model finds the lines of a page, another reads each of them.

/** Pixels of the longer side; a larger page is reduced, as no more text is found in it. */
const LONGEST = 2_000
/** Pixels of the shorter side; a smaller page is enlarged, so that its lines are not too small. */
const SHORTEST = 736
/** Pixels of a page in which lines are found: the model takes some 0.3 GB for a million. They are read in all their pixels. */
const MAX_SEARCHED = 800_000
/** The model that finds lines halves a page five times. */
const STEP = 32
/** Pixels of a line as it is read. A longer one is narrowed. */
const [LINE_HEIGHT, MIN_LINE, MAX_LINE] = [48, 320, 4_000]
/** A line that is so much higher than wide is written from top to bottom. */
const UPRIGHT_RATIO = 1.5
/** A line that is read with less confidence is noise. */
const MIN_CONFIDENCE = 0.5
/** From this confidence on, a page is not also tried upside down. */
const SURE_CONFIDENCE = 0.9
/** Lines that are read to decide which way up a page is. */
const MAX_PROBED = 6
/** The decoder leaks some memory with each image, so it is replaced after this many. */
const MAX_PICTURES_PER_DECODER = 10
const MAX_THREADS = 4

export function createPpOcr(directory: string): Recogniser {
  let models: ReturnType<typeof loadModels> | undefined
  let decoder: ReturnType<typeof startCore> | undefined
  let count = 0

  return {
    async read(picture): Promise<Recognised> {
      if (count++ % MAX_PICTURES_PER_DECODER === 0) decoder = undefined
      decoder ??= startCore()
      models ??= loadModels(directory)
      return readPage(await models, decodePage(await decoder, picture, LONGEST))
    },
  }
}

type Models = Awaited<ReturnType<typeof loadModels>>

async function loadModels(directory: string) {
  const { InferenceSession, Tensor } = await import('onnxruntime-node')
  const [detection, recognition, characters] = await Promise.all(
    ['detection.onnx', 'recognition.onnx', 'characters.txt'].map((name) =>
      readChecked(directory, name),
    ),
  )
  if (!(detection && recognition && characters)) throw new Error('The package is incomplete')
  const options: InferenceSession.SessionOptions = {
    intraOpNumThreads: Math.min(MAX_THREADS, Math.max(1, availableParallelism() >> 1)),
    interOpNumThreads: 1,
    // Pages differ in size, so memory kept for the next one would only grow.
    enableCpuMemArena: false,
    enableMemPattern: false,
    // Idle threads must not take CPU time.
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  }
  const load = async (weights: Buffer) => {
    const session = await InferenceSession.create(weights, options)
    const [input = '', output = ''] = [session.inputNames[0], session.outputNames[0]]
    return async (pixels: Float32Array, width: number, height: number): Promise<Tensor> => {
      const x = new Tensor('float32', pixels, [1, 3, height, width])
      const { [output]: result } = await session.run({ [input]: x })
      if (!result) throw new Error('The model returned nothing')
      return result
    }
  }
  return {
    detect: await load(detection),
    recognise: await load(recognition),
    // The first class is that of no character.
    characters: ['', ...characters.toString('utf8').split('\n'), ' '],
  }
}

async function readPage(models: Models, decoded: Page): Promise<Recognised> {
  const { page, boxes } = await upright(models, decoded)
  const lines: ReadBox[] = []
  let hasText = false
  for (const box of boxes) {
    const { text, confidence } = await readLine(models, page, box)
    if (text === '') continue
    hasText = true
    if (confidence >= MIN_CONFIDENCE) lines.push({ ...box, text })
  }
  return { text: linesOf(lines), isUnreadable: hasText && lines.length === 0 }
}

/** Turns a page the way that its lines are read with most confidence. */
async function upright(models: Models, decoded: Page) {
  let page = decoded
  let boxes = await findLines(models, page)
  if (isOnSide(boxes)) {
    page = turnRight(page)
    boxes = await findLines(models, page)
  }
  const confidence = await probe(models, page, boxes)
  if (confidence >= SURE_CONFIDENCE) return { page, boxes }
  const over = turnOver(page)
  const { width, height } = page
  const boxesOver = boxes.map((box) => ({ ...box, x: width - 1 - box.x, y: height - 1 - box.y }))
  const isOver = (await probe(models, over, boxesOver)) > confidence
  return isOver ? { page: over, boxes: boxesOver } : { page, boxes }
}

const isUpright = ({ width, height }: TextBox) => height >= width * UPRIGHT_RATIO

function isOnSide(boxes: readonly TextBox[]): boolean {
  const areaOf = (some: readonly TextBox[]) =>
    some.reduce((sum, { width, height }) => sum + width * height, 0)
  return areaOf(boxes.filter(isUpright)) > areaOf(boxes) / 2
}

/** The average confidence in the longest lines. */
async function probe(models: Models, page: Page, boxes: readonly TextBox[]): Promise<number> {
  const longest = boxes.toSorted((a, b) => b.width - a.width).slice(0, MAX_PROBED)
  let sum = 0
  for (const box of longest) sum += (await readLine(models, page, box)).confidence
  return sum / Math.max(1, longest.length)
}

async function findLines({ detect }: Models, page: Page): Promise<TextBox[]> {
  const [short, long] = [Math.min(page.width, page.height), Math.max(page.width, page.height)]
  const least = Math.sqrt(MAX_SEARCHED / (page.width * page.height))
  const scale = Math.min(least, Math.max(1, Math.min(SHORTEST / short, LONGEST / long)))
  const inSteps = (length: number) => Math.max(1, Math.round((length * scale) / STEP)) * STEP
  const [width, height] = [inSteps(page.width), inSteps(page.height)]
  const [across, down] = [page.width / width, page.height / height]
  const pixels = toInput(width, height, (x, y) =>
    greyAt(page, (x + 0.5) * across - 0.5, (y + 0.5) * down - 0.5),
  )
  const { data } = await detect(pixels, width, height)
  if (!(data instanceof Float32Array)) throw new Error('The model returned no map')
  return boxesIn({ width, height, likely: data }).map((box) => ({
    ...box,
    x: box.x * across,
    y: box.y * down,
    width: box.width * across,
    height: box.height * down,
  }))
}

/** What the models take: a page three times, for its colours, with lights from -1 to 1. */
function toInput(width: number, height: number, greyOf: (x: number, y: number) => number) {
  const pixels = new Float32Array(3 * width * height)
  for (let at = 0, y = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) pixels[at] = greyOf(x, y) / 127.5 - 1
  }
  pixels.copyWithin(width * height, 0, width * height)
  pixels.copyWithin(2 * width * height, 0, width * height)
  return pixels
}

async function readLine({ recognise, characters }: Models, page: Page, box: TextBox) {
  const turn = isUpright(box) ? Math.PI / 2 : 0
  const [length, thickness] = turn === 0 ? [box.width, box.height] : [box.height, box.width]
  const wide = Math.ceil((LINE_HEIGHT * length) / thickness)
  const columns = Math.min(Math.max(1, wide), MAX_LINE)
  const [cos, sin] = [Math.cos(box.angle + turn), Math.sin(box.angle + turn)]
  const width = Math.max(columns, MIN_LINE)
  const pixels = toInput(width, LINE_HEIGHT, (column, row) => {
    if (column >= columns) return 127.5
    const along = ((column + 0.5) / columns - 0.5) * length
    const across = ((row + 0.5) / LINE_HEIGHT - 0.5) * thickness
    return greyAt(page, box.x + along * cos - across * sin, box.y + along * sin + across * cos)
  })
  const { data, dims } = await recognise(pixels, width, LINE_HEIGHT)
  if (!(data instanceof Float32Array)) throw new Error('The model returned no classes')
  return decode(data, dims.at(-1) ?? 0, characters)
}

/** Greedy CTC: the likeliest character of each step, without repetitions. */
function decode(likely: Float32Array, classes: number, characters: readonly string[]) {
  let text = ''
  let sum = 0
  let count = 0
  let before = 0
  for (let step = 0; step < likely.length; step += classes) {
    const best = likeliest(likely, step, classes)
    if (best !== 0 && best !== before) {
      text += characters[best] ?? ''
      sum += likely[step + best] ?? 0
      count++
    }
    before = best
  }
  return { text: text.trim(), confidence: sum / Math.max(1, count) }
}

function likeliest(likely: Float32Array, step: number, classes: number): number {
  let best = 0
  for (let one = 1; one < classes; one++) {
    if ((likely[step + one] ?? 0) > (likely[step + best] ?? 0)) best = one
  }
  return best
}
