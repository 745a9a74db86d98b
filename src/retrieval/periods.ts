/** `FY2018`, `FY'18`, `FY2023Q1`, `Q3FY22`. */
const FISCAL_YEAR =
  /(?<![\p{L}\p{N}])([QH][1-4])?([FC]Y)['\u2019]?((?:19|20)?\d{2})([QH][1-4])?(?![\p{L}\p{N}])/giu
/** `Q2'23`, `H12023`; `Q223` is not a period for sure. */
const PART_OF_YEAR =
  /(?<![\p{L}\p{N}])([QH][1-4])(?:['\u2019]((?:19|20)?\d{2})|((?:19|20)\d{2}))(?![\p{L}\p{N}])/giu
/** `2Q23`, `1H2023`. */
const NUMBERED_PART = /(?<![\p{L}\p{N}])([1-4])([QH])['\u2019]?((?:19|20)?\d{2})(?![\p{L}\p{N}])/giu
/** Two digits from here on are of the last century. */
const LAST_CENTURY = 50

/**
 * Writes the years of a question's fiscal periods as words of their own: `FY18` as `FY 2018`, `2Q23` as `Q2 2023`. Reports
 * of a company differ in little but the year, and say “fiscal year ended December 31, 2018”, which `FY2018` as one word does
 * not find. Any other question stays as it is.
 */
export function spellPeriods(question: string): string {
  return question
    .replace(
      FISCAL_YEAR,
      (_, before: string | undefined, fiscal: string, year: string, after: string | undefined) =>
        [before, fiscal, inFull(year), after].filter(Boolean).join(' '),
    )
    .replace(
      PART_OF_YEAR,
      (_, part: string, short: string | undefined, year = short) => `${part} ${inFull(year)}`,
    )
    .replace(
      NUMBERED_PART,
      (_, number: string, part: string, year: string) => `${part}${number} ${inFull(year)}`,
    )
}

function inFull(year: string): string {
  if (year.length > 2) return year
  return `${Number(year) < LAST_CENTURY ? '20' : '19'}${year}`
}
