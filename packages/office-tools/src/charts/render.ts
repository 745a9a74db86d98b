import { Refusal } from '@agent-server/lib/refusal.ts'
import { messageOf } from '@agent-server/lib/system-error.ts'
import { FONT_FILES, fontHint, listCharacters, loadFont } from '@agent-server/lib/text/fonts.ts'
import { Resvg } from '@resvg/resvg-js'
import * as vega from 'vega'
import { expressionInterpreter } from 'vega-interpreter'
import { compile } from 'vega-lite'
import { CHART_FONT } from './chart-layout.ts'

/** The maximum width and height of the SVG in pixels; small charts side by side can be wider than any single one. */
const MAX_SIDE_PIXELS = 6_000
const MAX_SVG_CHARACTERS = 10_000_000
/** Pixels of the PNG per pixel of the SVG, unless the PNG would exceed the maximum width. */
const SCALE = 2
const MAX_PICTURE_WIDTH = 4_000

/** A Vega-Lite specification built only from validated parts. */
export type ChartSpecification = Record<string, unknown>

export interface RenderedChart {
  svg: string
  png: Uint8Array
}

/**
 * Draws a chart without a browser, network access or the machine's fonts, and interprets expressions instead of
 * compiling them. Throws `Refusal` if the chart is too large or cannot be drawn.
 */
export async function renderChart(specification: ChartSpecification): Promise<RenderedChart> {
  const svg = await draw(specification)
  const [, width = 0, height = 0] =
    /width="([\d.]+)" height="([\d.]+)"/.exec(svg)?.map(Number) ?? []
  if (Math.max(width, height) > MAX_SIDE_PIXELS || svg.length > MAX_SVG_CHARACTERS) {
    throw new Refusal('The chart is too large: take fewer rows or fewer values of `column`')
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
    // The type lists every part of a specification; this one was built from validated parts.
    const { spec } = compile(specification as never)
    const view = new vega.View(vega.parse(spec, undefined, { ast: true }), {
      expr: expressionInterpreter,
      loader: refusingLoader(),
      renderer: 'none',
      logLevel: vega.None,
    })
    return await view.toSVG()
  } catch (error) {
    const reason = messageOf(error)
    throw new Refusal(`The chart cannot be drawn: ${reason.slice(0, 300)}`)
  }
}

/** A loader that fetches and reads nothing, whatever a specification refers to. */
function refusingLoader(): ReturnType<typeof vega.loader> {
  const refuse = () => Promise.reject(new Error('a chart loads nothing'))
  // Rejecting a URL instead of emptying it would crash the process inside the library.
  const sanitize = () => Promise.resolve({ href: '' })
  return { ...vega.loader(), load: refuse, sanitize, http: refuse, file: refuse }
}

const DEFAULT_FONTS = [FONT_FILES.sans, FONT_FILES.sansBold]
/** Large files, which are only read for characters that the default fonts lack. */
const LARGE_FONTS = [FONT_FILES.chinese, FONT_FILES.korean].filter((path) => path !== undefined)
/** White space, control and format characters and variation selectors, which have no glyph of their own. */
const WITHOUT_GLYPH = /[\s\p{Cc}\p{Cf}\p{Variation_Selector}]/u

/**
 * The font files that together have every character of the texts in a drawing. Throws `Refusal` with the characters
 * that no font has: they would be drawn as boxes, or not at all.
 */
export async function fontsFor(svg: string): Promise<string[]> {
  const texts = svg.replaceAll(/<[^>]*>/g, '')
  let missing = [...new Set(texts)].filter((character) => !WITHOUT_GLYPH.test(character))
  const files: string[] = []
  for (const file of [...DEFAULT_FONTS, ...LARGE_FONTS]) {
    if (missing.length === 0 && files.length >= DEFAULT_FONTS.length) break
    const font = await loadFont(file)
    const stillMissing = missing.filter((character) => !font.has(character))
    if (DEFAULT_FONTS.includes(file) || stillMissing.length < missing.length) files.push(file)
    missing = stillMissing
  }
  if (missing.length === 0) return files
  throw new Refusal(
    `There is no glyph for ${listCharacters(missing)} to draw the chart with: rename these things${fontHint(missing)}`,
  )
}
