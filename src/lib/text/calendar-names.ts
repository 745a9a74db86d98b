/** Languages whose names of months and weekdays are known; of equal names those of the first count. */
const LANGUAGES = 'en de fr es it pt nl sv da nb fi pl cs sk hu ro ru uk tr el'.split(' ')

/** A name as it is compared: no case, no point of an abbreviation. */
function keyOf(name: string): string {
  return name.trim().toLowerCase().replace(/\.$/, '')
}

function namesOf(unit: 'month' | 'weekday', count: number): ReadonlyMap<string, number>[] {
  // The first of January 2024 is a Monday.
  const days = Array.from({ length: count }, (_, place) =>
    unit === 'month' ? Date.UTC(2024, place, 1) : Date.UTC(2024, 0, 1 + place),
  )
  const styles: Intl.DateTimeFormatOptions[] = [
    ...[{ [unit]: 'long' }, { [unit]: 'short' }],
    { [unit]: 'long', day: 'numeric' },
  ]
  return LANGUAGES.map((language) => {
    const formats = styles.map((style) =>
      Intl.DateTimeFormat(language, { timeZone: 'UTC', ...style }),
    )
    const named = formats.flatMap((format) =>
      days.map((day, place): [string, number] => {
        const name = format.formatToParts(day).find(({ type }) => type === unit)?.value ?? ''
        return [keyOf(name), place]
      }),
    )
    const isEnglishMonth = language === 'en' && unit === 'month'
    return new Map(isEnglishMonth ? [...named, ['sept', 8]] : named)
  })
}

const names: { month?: ReadonlyMap<string, number>[]; weekday?: ReadonlyMap<string, number>[] } = {}

/**
 * The places of these names in the year or in the week from Monday, from 0, by the name in small letters; nothing
 * where no one language knows all of them.
 */
export function calendarPlaces(
  unit: 'month' | 'weekday',
  texts: readonly string[],
): ReadonlyMap<string, number> | undefined {
  names[unit] ??= namesOf(unit, unit === 'month' ? 12 : 7)
  const wanted = [...new Set(texts.map(keyOf))]
  if (wanted.length === 0) return undefined
  return names[unit].find((known) => wanted.every((name) => known.has(name)))
}

/** The place of a name in what `calendarPlaces` has found. */
export function placeIn(places: ReadonlyMap<string, number>, name: string): number {
  return places.get(keyOf(name)) ?? places.size
}
