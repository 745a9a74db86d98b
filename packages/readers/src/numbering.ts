/** Formats of numbers by the names that HTML and OpenDocument have for them. */
const BY_TYPE: Record<string, (number: number) => string> = {
  a: (number) => letters(number),
  A: (number) => letters(number).toUpperCase(),
  i: (number) => roman(number),
  I: (number) => roman(number).toUpperCase(),
}

/** A number as a list of this type shows it: `1`, `a`, `A`, `i` or `I`. */
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
