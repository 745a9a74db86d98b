interface SheetHead {
  /** A name per column, empty if it has none; absent if no row looks like column names. */
  head: string[] | undefined
  /** Whether the values below clearly differ from the head. */
  isSure: boolean
  headRows: number
}

const NO_HEAD: SheetHead = { head: undefined, isSure: false, headRows: 0 }
/** A head names at least this share of the columns of the widest row near it. */
const MIN_NAMED = 0.6
const PLAIN_NUMBER = /^[-+\d.,%€$£\s/:]+$/
/** Periods can be column names, too, next to others that are words. */
const PERIOD = /^(?:(?:19|20)\d\d|\d{1,2}[./]\d{4}|\d{4}-\d\d(?:-\d\d)?)$/
/** Rows that a head may have. */
const MAX_HEAD_ROWS = 3

/** The head: the first row if it looks like names, or the first two or three if a name above spans columns. */
export function headOf(near: string[][], widest: number): SheetHead {
  if (isForm(near)) return NO_HEAD
  for (let count = Math.min(MAX_HEAD_ROWS, near.length - 1); count > 1; count--) {
    const names = joinHeads(near.slice(0, count))
    const isHead = names && isSureHead(names, near.slice(count), widest)
    if (isHead && near.slice(1, count).flat().every(isPeriodOrName)) {
      return withUnits(names, near, count) ?? { head: names, isSure: true, headRows: count }
    }
  }
  return withUnits(near[0] ?? [], near, 1) ?? plainHead(near, widest)
}

function plainHead([upper = [], ...body]: string[][], widest: number): SheetHead {
  const isSure = isSureHead(upper, body, widest)
  const texts = upper.filter(Boolean)
  const isPlain =
    texts.every(isName) && texts.length >= widest && new Set(texts).size === texts.length
  const isHead = isSure || (isPlain && texts.length > 0)
  return isHead ? { head: upper, isSure, headRows: 1 } : NO_HEAD
}

/** `kg`, `[mm]`, `(in %)`, `€/h`. */
const UNIT =
  /^(?:[[(](?![-+\d.,\s]*[\])]).{1,20}[\])]|in .{1,12}|[%‰°€$£¥]|(?:[kKMmµnc]?(?:g|m|s|W|Wh|V|A|Hz|Pa|bar|l|L|B)|mg|mm|km|ha|t|h|d|min|sec|st|pcs?|Stk\.?|Stück|°[CF]|EUR|USD|CHF|GBP|k€|T€|Mio\.?|days?|hours?|years?)(?:[²³23]|\/.{1,6})?|[€$£]\/.{1,6})$/

/** Adds the units to the names where the row below the head has nothing else: `Weight` over `kg` becomes `Weight kg`. */
function withUnits(
  names: readonly string[],
  near: readonly string[][],
  headRows: number,
): SheetHead | undefined {
  const [units = [], ...body] = near.slice(headRows)
  const filled = units.filter((text) => text !== '' && !/^[-–—]+$/.test(text))
  // The names of rows stand in the first column: there, `A` is no ampere.
  const areNamesOfRows = (units[0] ?? '') !== '' && !/^[-–—([]/.test(units[0] ?? '')
  const areUnits = !areNamesOfRows && filled.length > 0 && filled.every((text) => UNIT.test(text))
  const hasValues = body.some((row) =>
    row.some((text, i) => text !== '' && UNIT.test(units[i] ?? '') && !isName(text)),
  )
  if (!areUnits || !hasValues || !names.some(isName)) return undefined
  const head = names.map((name, i) => {
    const unit = units[i] ?? ''
    return UNIT.test(unit) ? `${name} ${unit}`.trim() : name
  })
  return { head, isSure: true, headRows: headRows + 1 }
}

/** Whether each row begins with a label, as on a form. */
function isForm(near: readonly string[][]): boolean {
  const labels = near.flatMap((row) => row.find((text) => text !== '') ?? [])
  return labels.every((label) => label.endsWith(':'))
}

/**
 * `2025` over `Q1` and `Q2` becomes `2025 Q1` and `2025 Q2`. A name spans the empty cells to its right, or is in each of
 * them if the sheet says what it spans.
 */
function joinHeads([upper = [], ...more]: readonly string[][]): string[] | undefined {
  const lower = more.length > 1 ? joinHeads(more) : more[0]
  if (!lower) return undefined
  const isBelow = (i: number) => (lower[i] ?? '') !== '' && lower[i] !== upper[i]
  const isRepeated = (i: number) => upper[i] !== '' && upper[i] === upper[i - 1] && isBelow(i)
  const isSpanned = lower.some((_, i) => isRepeated(i) || (!upper[i] && isBelow(i)))
  const isOneCell = upper[0] === lower[0] && upper[0] !== ''
  if (!isSpanned || (!upper[0] === !lower[0] && !isOneCell)) return undefined
  // The second of three rows must span something itself: it is no row of names above the first values.
  if (more.length > 1 && !lower.some((name, i) => name !== more[1]?.[i] && i > 0)) return undefined
  let group = ''
  return lower.map((text, i) => {
    // A span that was stated ends where its name does.
    if (!upper[i] && i > 1 && isRepeated(i - 1)) group = ''
    group = upper[i] || group
    return text === '' || text === group ? group : `${group} ${text}`.trim()
  })
}

const isPeriodOrName = (text: string) => text === '' || isName(text) || PERIOD.test(text)

/** Whether the values below are of another kind than the assumed names. */
function isSureHead(head: readonly string[], body: readonly string[][], widest: number): boolean {
  const names = head.filter(Boolean)
  if (names.length < Math.max(1, widest * MIN_NAMED)) return false
  if (!names.some(isName) && !areAboveNames(head, body)) return false
  const values = head.map((_, i) => body.map((row) => row[i] ?? '').filter(Boolean))
  const isFit = head.every((text, i) => {
    const isPeriod = PERIOD.test(text) && !values[i]?.some((value) => PERIOD.test(value))
    return text === '' || isName(text) || isPeriod
  })
  return isFit && head.some((text, i) => text !== '' && values[i]?.some((value) => !isName(value)))
}

/** Whether all are periods behind an empty corner, below which the rows have names: `, 2024, 2025`. */
function areAboveNames(
  [corner = '', ...periods]: readonly string[],
  body: readonly string[][],
): boolean {
  const rows = body.map(([name = '']) => name).filter(Boolean)
  const arePeriods = periods.length > 1 && periods.every((text) => PERIOD.test(text))
  return corner === '' && arePeriods && rows.length > 1 && rows.every(isName)
}

function isName(text: string): boolean {
  return text !== '' && text.length <= 100 && !PLAIN_NUMBER.test(text)
}
