import { JobRefusal } from '../../lib/processes/job.ts'
import { FONT_FILES, fontHint, listSigns, loadFont } from '../../lib/text/fonts.ts'

const USUAL = [FONT_FILES.sans, FONT_FILES.sansBold]
/** Large files, which are read only for what the usual fonts lack. */
const OTHERS = [FONT_FILES.chinese, FONT_FILES.korean].filter((path) => path !== undefined)
/** Choices of form, joiners and direction marks, which have no sign of their own. */
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
