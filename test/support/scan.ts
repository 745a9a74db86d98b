import { Resvg } from '@resvg/resvg-js'
import { FONT_FILES } from '../../src/lib/fonts.ts'

/** A page with these lines, as a scanner would see it. */
export function scan(lines: readonly string[], { slope = 0, turn = 0, ink = '#111' } = {}) {
  const texts = lines.map((line, i) => `<text x="60" y="${80 + i * 40}">${line}</text>`).join('')
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="620" height="620">
    <rect width="100%" height="100%" fill="#fdfcf7"/>
    <g font-family="DejaVu Sans" font-size="26" fill="${ink}" transform="rotate(${slope + turn} 310 310)">${texts}</g></svg>`
  const font = { loadSystemFonts: false, fontFiles: [FONT_FILES.sans] }
  return new Resvg(svg, { font }).render()
}
