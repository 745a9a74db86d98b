/** One level of a list with numbers. */
export interface NumberLevel {
  start: number
  /** `1`, `a`, `A`, `i`, `I`, `01`, or '' for none. */
  type: string
  /** What is shown, with `%1` for the number of the first level, and so on. */
  text: string
  /** Whether the numbers that it repeats are all shown in digits. */
  isLegal?: boolean
  /** Whether it counts on below another item of the level above. */
  goesOn?: boolean
}

export type Levels = ReadonlyMap<number, NumberLevel>

/** Levels that are counted. */
const MAX_LEVELS = 10

const isCounted = (level: number) => Number.isInteger(level) && level >= 0 && level < MAX_LEVELS

/** Counts the items of a list with several levels. */
export function createCounter() {
  const values: (number | undefined)[] = []

  return {
    /** The next item of a level is to have this number. */
    startAt(level: number, value: number): void {
      if (isCounted(level)) values[level] = value - 1
    },
    /** The label of the next item of a level; '' if it has none. */
    next(levels: Levels, level: number): string {
      const own = levels.get(level)
      if (!own || !isCounted(level)) return ''
      values[level] = (values[level] ?? own.start - 1) + 1
      for (let below = level + 1; below < values.length; below++) {
        if (!levels.get(below)?.goesOn) values[below] = undefined
      }
      return own.text
        .replaceAll(/%([1-9])/g, (_, number: string) => {
          const at = Number(number) - 1
          const { start = 1, type = '1' } = levels.get(at) ?? {}
          return orderedLabel(values[at] ?? start, own.isLegal ? '1' : type)
        })
        .trim()
    },
  }
}

/** Formats of numbers by the names that HTML and OpenDocument have for them. */
const BY_TYPE: Record<string, (number: number) => string> = {
  '01': (number) => String(number).padStart(2, '0'),
  '': () => '',
  a: (number) => letters(number),
  A: (number) => letters(number).toUpperCase(),
  aa: (number) => repeatedLetter(number),
  AA: (number) => repeatedLetter(number).toUpperCase(),
  i: (number) => roman(number),
  I: (number) => roman(number).toUpperCase(),
}

/** A number as a list of this type shows it: `1`, `01`, `a`, `A`, `aa` (a, b, …, aa, bb), `i` or `I`. */
export function orderedLabel(number: number, type: string): string {
  return BY_TYPE[type]?.(number) ?? String(number)
}

const LETTERS = 26
/** Greater numbers are shown in digits. */
const MAX_LETTERED = LETTERS * 27
const MAX_ROMAN = 3_999

/** As spreadsheets count their columns: a, z, aa, ab. */
function letters(number: number): string {
  if (number < 1 || number > MAX_LETTERED) return String(number)
  const last = String.fromCharCode(97 + ((number - 1) % LETTERS))
  return number > LETTERS ? letters(Math.floor((number - 1) / LETTERS)) + last : last
}

function repeatedLetter(number: number): string {
  if (number < 1 || number > MAX_LETTERED) return String(number)
  return letters(((number - 1) % LETTERS) + 1).repeat(Math.ceil(number / LETTERS))
}

const ROMAN = [
  [1_000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
] as const

function roman(number: number): string {
  if (number < 1 || number > MAX_ROMAN) return String(number)
  let [rest, text] = [number, '']
  for (const [value, sign] of ROMAN) {
    while (rest >= value) {
      text += sign
      rest -= value
    }
  }
  return text
}
