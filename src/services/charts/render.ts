import { Resvg } from '@resvg/resvg-js'
import * as vega from 'vega'
import { expressionInterpreter } from 'vega-interpreter'
import { compile } from 'vega-lite'
import { JobRefusal } from '../../lib/processes/job.ts'
import { FONT_FILES, fontHint, listSigns, loadFont } from '../../lib/text/fonts.ts'
import { CHART_FONT } from './chart-layout.ts'

/** Pixels of the SVG, either way; many small charts side by side can be wider than any of them. */
const MAX_SIDE_PIXELS = 6_000
const MAX_SVG_CHARACTERS = 10_000_000
/** Pixels of the PNG for each of the SVG, as long as it gets no wider than the maximum. */
const SCALE = 2
const MAX_PICTURE_WIDTH = 4_000

/** A Vega-Lite specification, made of nothing but what was validated. */
export type ChartSpecification = Record<string, unknown>

export interface RenderedChart {
  svg: string
  png: Uint8Array
}

/** Draws without a browser, a network or the machine's fonts, and walks expressions instead of compiling them. */
export async function renderChart(specification: ChartSpecification): Promise<RenderedChart> {
  const svg = await draw(specification)
  const [, width = 0, height = 0] =
    /width="([\d.]+)" height="([\d.]+)"/.exec(svg)?.map(Number) ?? []
  if (Math.max(width, height) > MAX_SIDE_PIXELS || svg.length > MAX_SVG_CHARACTERS) {
    throw new JobRefusal('The chart is too large: take fewer rows or fewer values of `column`')
  }
  const fonts = await fontsFor(svg)
  const picture = new Resvg(svg, {
    fitTo: { mode: 'width', value: Math.min(Math.ceil(width * SCALE), MAX_PICTURE_WIDTH) },
    font: { loadSystemFonts: false, fontFiles: fonts, defaultFontFamily: CHART_FONT },
  })
  return { svg, png: new Uint8Array(picture.render().asPng()) }
}

async function draw(specification: ChartSpecification): Promise<string> {
  try {
    // Its own types name every part of a specification, which was validated before.
    const { spec } = compile(specification as never)
    const view = new vega.View(vega.parse(spec, undefined, { ast: true }), {
      ...{ expr: expressionInterpreter, loader: refusingLoader(), renderer: 'none' },
      logLevel: vega.None,
    })
    return await view.toSVG()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new JobRefusal(`The chart cannot be drawn: ${reason.slice(0, 300)}`)
  }
}

/** Nothing is fetched and nothing is read, whatever a specification names. */
function refusingLoader(): ReturnType<typeof vega.loader> {
  const refuse = () => Promise.reject(new Error('a chart loads nothing'))
  // An address that is refused rather than emptied would end the process within the library.
  const sanitize = () => Promise.resolve({ href: '' })
  return { ...vega.loader(), load: refuse, sanitize, http: refuse, file: refuse }
}

const USUAL = [FONT_FILES.sans, FONT_FILES.sansBold]
/** Large files, which are read only for what the usual fonts lack. */
const OTHERS = [FONT_FILES.chinese, FONT_FILES.korean].filter((path) => path !== undefined)
/** Variation selectors, joiners and direction marks, which have no glyph of their own. */
const WITHOUT_SIGN = /[\s\p{Cc}\p{Cf}\p{Variation_Selector}]/u

/**
 * The font files that hold every sign of the texts in a drawing. Throws `JobRefusal` with the signs that none
 * has: they would be boxes, or nothing at all.
 */
export async function fontsFor(svg: string): Promise<string[]> {
  const texts = svg.replaceAll(/<[^>]*>/g, '')
  let missing = [...new Set(texts)].filter((sign) => !WITHOUT_SIGN.test(sign))
  const files: string[] = []
  for (const file of [...USUAL, ...OTHERS]) {
    if (missing.length === 0 && files.length >= USUAL.length) break
    const font = await loadFont(file)
    const left = missing.filter((sign) => !font.has(sign))
    if (USUAL.includes(file) || left.length < missing.length) files.push(file)
    missing = left
  }
  if (missing.length === 0) return files
  throw new JobRefusal(
    `There is no sign for ${listSigns(missing)} to draw the chart with: name these things otherwise${fontHint(missing)}`,
  )
}
