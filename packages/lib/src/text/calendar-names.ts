/** Languages whose month and weekday names are known; if a name occurs in several, the first language counts. */
const LANGUAGES = 'en de fr es it pt nl sv da nb fi pl cs sk hu ro ru uk tr el'.split(' ')

/** The form in which names are compared: lower case, without the point of an abbreviation. */
function keyOf(name: string): string {
  return name.trim().toLowerCase().replace(/\.$/, '')
}

function namesOf(unit: 'month' | 'weekday', count: number): ReadonlyMap<string, number>[] {
  // The first of January 2024 is a Monday.
  const days = Array.from({ length: count }, (_, place) =>
    unit === 'month' ? Date.UTC(2024, place, 1) : Date.UTC(2024, 0, 1 + place),
  )
  const styles: Intl.DateTimeFormatOptions[] = [
    { [unit]: 'long' },
    { [unit]: 'short' },
    { [unit]: 'long', day: 'numeric' },
  ]
  return LANGUAGES.map((language) => {
    const formats = styles.map((style) =>
      Intl.DateTimeFormat(language, { timeZone: 'UTC', ...style }),
    )
    const entries = formats.flatMap((format) =>
      days.map((day, place): [string, number] => {
        const name = format.formatToParts(day).find(({ type }) => type === unit)?.value ?? ''
        return [keyOf(name), place]
      }),
    )
    const isEnglishMonth = language === 'en' && unit === 'month'
    return new Map(isEnglishMonth ? [...entries, ['sept', 8]] : entries)
  })
}

const names: { month?: ReadonlyMap<string, number>[]; weekday?: ReadonlyMap<string, number>[] } = {}

/**
 * The positions of these names in the year, or in the week from Monday, from 0, keyed by lower-case name; undefined
 * if no single language knows all of them.
 */
export function calendarPlaces(
  unit: 'month' | 'weekday',
  texts: readonly string[],
): ReadonlyMap<string, number> | undefined {
  names[unit] ??= namesOf(unit, unit === 'month' ? 12 : 7)
  const keys = [...new Set(texts.map(keyOf))]
  if (keys.length === 0) return undefined
  return names[unit].find((places) => keys.every((name) => places.has(name)))
}

/** The position of a name in a result of `calendarPlaces`; after all others if it is not in it. */
export function placeIn(places: ReadonlyMap<string, number>, name: string): number {
  return places.get(keyOf(name)) ?? places.size
}
