/** A table as far as its totals show in it. */
export interface Figures {
  /** By column: a number or null per row. */
  columns: readonly (readonly (number | null)[])[]
  /** The rows with a text that labels them as a total. */
  labelled: ReadonlySet<number>
  /** The labelled rows that hold means. */
  means: ReadonlySet<number>
  /** The rows without a text that most others have. */
  nameless: ReadonlySet<number>
}

export interface TotalRows {
  /** Rows that add up others, beyond doubt. */
  totals: number[]
  /** Rows that are equal to the sum of those above them, which may be chance. */
  suspects: number[]
}

/** Totals that are looked back to as the beginning of what a labelled row may add up. */
const MAX_STARTS = 12
/** Rows that a sum without any label must add up if nothing else speaks for it. */
const MIN_SUMMANDS = 3
/** A smaller whole number is often a sum by chance. */
const MIN_TELLING = 100
/** In a longer table some row is the sum of others by chance. */
const MAX_GUESSED = 500

/**
 * Finds the rows that are sums of others, by their values as well as by their labels. Those without a label count if the
 * table ends in a total and all of them fit together.
 */
export function totalRows(figures: Figures): TotalRows {
  const ahead = totalsAhead(figures)
  if (ahead.length > 1) return { totals: ahead, suspects: [] }
  const guesses = scan(figures, true)
  const isLast = guesses.totals.at(-1) === guesses.last
  if (guesses.guessed.length === 0 || (isLast && guesses.totals.length > 1)) {
    return { totals: guesses.totals, suspects: [] }
  }
  const { totals } = scan(figures, false)
  const proven = new Set(totals)
  return { totals, suspects: guesses.guessed.filter((row) => !proven.has(row)) }
}

/** The rows without a name, if each of them adds up the rows up to the next one, or all: groups below their totals. */
function totalsAhead({ columns, nameless, labelled }: Figures): number[] {
  const height = columns[0]?.length ?? 0
  const rows = [...nameless].filter((row) => columns.some((column) => column[row] !== null))
  if (rows[0] !== 0 || labelled.size > 0 || rows.length * 2 >= height) return []
  const sumOf = (column: Figures['columns'][number], from: number, to: number) =>
    column
      .slice(from, to)
      .reduce((sum: number, value, at) => sum + (nameless.has(from + at) ? 0 : (value ?? 0)), 0)
  const isTotal = (row: number, from: number, to: number) =>
    columns.every(
      (column) => column[row] === null || isNear(column[row] ?? 0, sumOf(column, from, to)),
    )
  const isEach = rows.every((row, place) => {
    const next = rows[place + 1] ?? height
    return next - row > 2 ? isTotal(row, row + 1, next) : row === 0 && isTotal(row, 1, height)
  })
  return isEach ? rows : []
}

interface Scan {
  totals: number[]
  /** The totals that only their values show, and not beyond doubt. */
  guessed: number[]
  /** The last row with figures. */
  last: number | undefined
}

function scan(figures: Figures, isGuessing: boolean): Scan {
  const height = figures.columns[0]?.length ?? 0
  const result: Scan = { totals: [], guessed: [], last: undefined }
  const sums = createSums(figures.columns)
  for (let row = 0; row < height; row++) {
    const verdict = judge(row, figures, sums)
    const isRow =
      verdict === 'row' || (verdict === 'guess' && !(isGuessing && height <= MAX_GUESSED))
    if (verdict !== 'empty') result.last = row
    if (isRow) sums.add(row)
    else record(verdict, row, result, sums)
  }
  return result
}

function record(verdict: Verdict, row: number, { totals, guessed }: Scan, sums: Sums): void {
  if (verdict === 'guess') guessed.push(row)
  if (verdict !== 'empty') totals.push(row)
  if (verdict !== 'total of those below') sums.endSection()
}

type Verdict = 'total' | 'total of those below' | 'guess' | 'row' | 'empty'
type Sums = ReturnType<typeof createSums>

/** The first section counts that the row adds up; if it has no label, of the newest and of all rows. */
function judge(row: number, figures: Figures, sums: Sums): Verdict {
  if (figures.columns.every((column) => typeof column[row] !== 'number')) return 'empty'
  const sections = sums.sections()
  if (figures.labelled.has(row)) {
    const isTotal = sections.some((section) => equalValues(row, figures, section).equal.length > 0)
    if (isTotal) return 'total'
    return isAhead(row, figures) ? 'total of those below' : 'row'
  }
  const [newest, ...older] = sections
  const verdicts = [newest, older.at(-1)].map((section) =>
    section ? judgeSection(row, figures, section) : 'row',
  )
  return (
    verdicts.find((verdict) => verdict === 'total') ??
    verdicts.find((verdict) => verdict === 'guess') ??
    'row'
  )
}

function judgeSection(row: number, figures: Figures, section: Section): Verdict {
  const { count, equal } = equalValues(row, figures, section)
  const isMany = section.count >= MIN_SUMMANDS
  const isNameless = figures.nameless.has(row)
  const isTelling = equal.some(
    (value) => Math.abs(value) >= MIN_TELLING || !Number.isInteger(value),
  )
  if (equal.length < count || section.count < 2) return 'row'
  if (isNameless && (equal.length > 1 || isMany)) return 'total'
  if (new Set(equal).size > 1 && isTelling) return 'total'
  return isNameless || isTelling || new Set(equal).size > 1 ? 'guess' : 'row'
}

/** How many values the row has, and those that are the sum, or the mean, of a section. */
function equalValues(row: number, { columns, means }: Figures, section: Section) {
  const values = columns.flatMap((column, index) => {
    const value = column[row]
    return value === null || value === undefined ? [] : [{ value, sum: section.sums[index] ?? 0 }]
  })
  const equal = values.filter(
    ({ value, sum }) =>
      isNear(value, sum) || (means.has(row) && isNear(value, sum / section.count)),
  )
  return { count: values.length, equal: equal.map(({ value }) => value) }
}

/** Whether the row adds up the rows below it, up to the next labelled one or the end. */
function isAhead(row: number, { columns, labelled }: Figures): boolean {
  const height = columns[0]?.length ?? 0
  let end = row + 1
  while (end < height && !labelled.has(end)) end++
  if (end - row <= 2) return false
  return columns.some((column) => {
    const sum = column.slice(row + 1, end).reduce((all: number, each) => all + (each ?? 0), 0)
    return isNear(column[row] ?? 0, sum)
  })
}

interface Section {
  sums: number[]
  /** The number of its rows. */
  count: number
}

/** The sums of the rows so far: of all, and since each of the last totals. */
function createSums(columns: readonly (readonly (number | null)[])[]) {
  const all: Section = { sums: columns.map(() => 0), count: 0 }
  const copy = ({ sums, count }: Section): Section => ({ sums: [...sums], count })
  /** What had been added up where a section began. */
  const starts: Section[] = [copy(all)]
  return {
    add(row: number): void {
      for (const [index, column] of columns.entries()) {
        all.sums[index] = (all.sums[index] ?? 0) + (column[row] ?? 0)
      }
      all.count++
    },
    endSection(): void {
      starts.push(copy(all))
      if (starts.length > MAX_STARTS) starts.splice(1, 1)
    },
    /** The sections with rows, the newest first, and all rows last. */
    sections(): Section[] {
      return starts
        .map((start) => ({
          sums: all.sums.map((sum, index) => sum - (start.sums[index] ?? 0)),
          count: all.count - start.count,
        }))
        .filter(({ count }) => count > 0)
        .toReversed()
    },
  }
}

/** Amounts are written with two decimals, even if their summands had more. */
function isNear(value: number, sum: number): boolean {
  return value !== 0 && Math.abs(value - sum) <= Math.max(0.011, Math.abs(sum) * 1e-9)
}
