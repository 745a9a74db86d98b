import { FONT_FILES } from '@agent-server/lib/text/fonts.ts'
import { Resvg } from '@resvg/resvg-js'

/**
 * A page with these lines, as a scanner would see it; `isTorn` leaves two of three rows of it, `shadow` darkens it
 * from the left by up to this share, `right` is a second column.
 */
export function scan(
  lines: readonly string[],
  {
    slope = 0,
    turn = 0,
    ink = '#111',
    height = 620,
    isTorn = false,
    shadow = 0,
    right = [] as readonly string[],
    zoom = 1,
  } = {},
) {
  const width = right.length > 0 ? 1_100 : 620
  const column = (x: number, texts: readonly string[]) =>
    texts.map((line, i) => `<text x="${x}" y="${80 + i * 40}">${line}</text>`).join('')
  const texts = column(60, lines) + column(600, right)
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
    <pattern id="torn" width="9" height="3" patternUnits="userSpaceOnUse"><path d="M0 .5h9" stroke="#fff"/></pattern>
    <rect width="100%" height="100%" fill="#fdfcf7"/>
    <g font-family="DejaVu Sans" font-size="26" fill="${ink}" transform="rotate(${slope + turn} 310 310)">${texts}</g>
    ${shadow > 0 ? `<linearGradient id="shadow"><stop stop-opacity="${shadow}"/><stop offset="1" stop-opacity="0"/></linearGradient><rect width="100%" height="100%" fill="url(#shadow)"/>` : ''}
    ${isTorn ? '<rect width="100%" height="100%" fill="url(#torn)"/>' : ''}</svg>`
  const font = { loadSystemFonts: false, fontFiles: [FONT_FILES.sans] }
  return new Resvg(svg, { font, fitTo: { mode: 'zoom', value: zoom } }).render()
}
