import { calendarPlaces } from '@agent-server/lib/text/calendar-names.ts'
import { quoteText } from './table-job.ts'

/** A way to read the texts of a column as values of a type. */
export interface Reading {
  type: string
  /** Returns an SQL expression for the value of a text, itself given in SQL; NULL if the text does not fit. */
  toValue(text: string): string
  /** Describes the reading for the model if it is a guess. */
  guess?: string
}

/** Conventions of the whole file, for columns whose own texts are ambiguous. */
export interface Locale {
  /** Decimal commas, with dots as thousands separators. */
  hasDecimalComma: boolean
  isMonthFirst: boolean
}

/** Texts that stand for a missing value, in lower case. */
export const MISSING = '-|–|—|n/a|na|null|#n/a|nan|k.a.|k. a.|?|.|..'.split('|')

/** `shape` is a regular expression with the same meaning in DuckDB and JavaScript. */
function typed(type: string, shape: string) {
  const whole = new RegExp(`^(?:${shape})$`)
  return {
    type,
    fits: (text: string) => whole.test(text),
    toValue: (text: string) => whenShaped(text, shape, `TRY_CAST(${text} AS ${type})`),
  }
}
const whenShaped = (text: string, shape: string, value: string) =>
  `CASE WHEN regexp_full_match(${text}, ${quoteText(shape)}) THEN ${value} END`

/**
 * What has more digits, leading zeros, or a plus before the figures of a telephone number is an identifier and stays text;
 * so does what may be a code with an E in it (`12E3`): an exponent has a sign, or decimals before it. More digits than 15
 * before decimals would be rounded.
 */
const PLAIN = [
  typed('BOOLEAN', '(?i:true|false)'),
  typed('BIGINT', '-?(?:0|[1-9][0-9]{0,17})|\\+(?:0|[1-9][0-9]{0,5})'),
  typed(
    'DOUBLE',
    '-?(?:0|[1-9][0-9]{0,14})?(?:\\.[0-9]*)?|\\+(?:0|[1-9][0-9]{0,5})(?:\\.[0-9]*)?|[-+]?[0-9]{1,15}(?:\\.[0-9]+[eE][-+]?|[eE][-+])[0-9]{1,3}',
  ),
  typed('DATE', '[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}'),
  typed('TIMESTAMP', '[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}[T ][0-9]{1,2}:[0-9]{2}(?::[0-9.]+)?Z?'),
  typed('TIMESTAMPTZ', '[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+[-+][0-9]{2}(?::?[0-9]{2})?'),
  typed('TIME', '[0-9]{1,2}:[0-9]{2}(?::[0-9.]+)?'),
  /** A duration of a day or more. */
  typed('INTERVAL', '[0-9]{1,5}:[0-9]{2}(?::[0-9.]+)?'),
]

/** Possible readings of a column, judged by a sample of its texts; the likeliest first. */
export function readingsOf(sample: readonly string[], locale: Locale, isPlain: boolean): Reading[] {
  const texts = sample.map((text) => text.trim()).filter((text) => !isMissing(text))
  if (texts.length === 0) return []
  const plain = PLAIN.filter(({ fits }) => texts.every((text) => fits(text)))
  if (isPlain) return plain
  if (areVersions(texts)) return []
  const local = [...numberReadings(texts, locale), ...dateReadings(texts, locale)]
  // With a decimal comma, `1.234` is not a decimal number.
  const isInteger = plain.some(({ type }) => type === 'BIGINT')
  return usesComma(texts, locale) && !isInteger ? [...local, ...plain] : [...plain, ...local]
}

/** Versions and sections, of which 1.10 follows 1.9: programs write numbers with as many decimals, or without a last 0. */
function areVersions(texts: readonly string[]): boolean {
  if (!texts.every((text) => /^\d{1,3}(?:\.\d{1,2})?$/.test(text))) return false
  return texts.some((text) => /\.\d0$/.test(text)) && texts.some((text) => /\.\d$/.test(text))
}

export const isMissing = (text: string) => text === '' || MISSING.includes(text.toLowerCase())

const CURRENCIES = new Set(Intl.supportedValuesOf('currency'))
/** Currency signs and names, percent and per mille, and units of measure. */
const UNIT =
  /\p{Sc}|%|‰|(?<!\p{L})(?:[A-Z]{3}|kr\.?|zł|Kč|Fr\.|Ft|lei|TL|kg|g|mg|t|km|m|cm|mm|[mk]m²|m²|m³|ha|l|ml|[kM]?Wh?|°C|h|min|s)(?![\p{L}²³])/u
const COMMA_NUMBER = /^(?:0|[1-9]\d{0,17}|[1-9]\d{0,2}(?:[. '’]\d{3})+)(?:,\d+)?$/
/** Also with groups of two, as in India: `12,34,567`. */
const POINT_NUMBER =
  /^(?:0|[1-9]\d{0,17}|[1-9]\d{0,2}(?:[, '’]\d{3})+|[1-9]\d?(?:,\d{2})+,\d{3})(?:\.\d+)?$/
const CLEARLY_COMMA = /,\d{1,2}$|,\d{4,}$|\.\d{3},\d+$|\.\d{3}\.\d{3}/
const CLEARLY_POINT = /\.\d{1,2}$|\.\d{4,}$|,\d{3}\.\d+$|,\d{3},\d{3}/
const ADDRESS = /^\d{1,3}(?:\.\d{1,3}){3}$/

/** Strips a text of its sign, unit and unusual spaces, so that only the digits of a possible number are left. */
function bare(text: string): string {
  return text
    .replace(UNIT, '')
    .replaceAll(/[\u00a0\u202f]/g, ' ')
    .replaceAll(/^[(\s]*[-+−]?\s*|\s*-?[)\s]*$/g, '')
}

/** Whether numbers in these texts have a decimal comma; undefined if they do not tell. */
export function commaIn(texts: readonly string[]): boolean | undefined {
  const numbers = texts.map(bare).filter((text) => /^\d[\d.,' ’]*$/.test(text))
  const hasComma = numbers.some((text) => CLEARLY_COMMA.test(text) && COMMA_NUMBER.test(text))
  const hasPoint = numbers.some((text) => CLEARLY_POINT.test(text) && POINT_NUMBER.test(text))
  return hasComma === hasPoint ? undefined : hasComma
}

function usesComma(texts: readonly string[], { hasDecimalComma }: Locale): boolean {
  return commaIn(texts) ?? hasDecimalComma
}

function numberReadings(texts: readonly string[], locale: Locale): Reading[] {
  const units = [...new Set(texts.flatMap((text) => UNIT.exec(text)?.[0] ?? []))]
  const [unit = ''] = units
  // Adding up amounts in different currencies would be wrong.
  if (units.length > 1 || (/^[A-Z]{3}$/.test(unit) && !CURRENCIES.has(unit))) return []
  const isComma = usesComma(texts, locale)
  const numbers = texts.map(bare)
  const shape = isComma ? COMMA_NUMBER : POINT_NUMBER
  if (!numbers.every((text) => shape.test(text)) || texts.every((text) => ADDRESS.test(text))) {
    return []
  }
  const hasDecimals = numbers.some((text) => (isComma ? /,\d+$/ : /\.\d+$/).test(text))
  if (texts.some(isTelephone) || (hasDecimals && numbers.some(isRounded))) return []
  const guess = guessOf(texts, unit, hasDecimals && isComma)
  return (hasDecimals ? ['DOUBLE'] : ['BIGINT', 'DOUBLE']).map((type) => ({
    type,
    guess,
    toValue: (text) => numberValue(text, { unit, isComma, type }),
  }))
}

/** Figures after a plus, unless they are an amount. */
const isTelephone = (text: string) =>
  /^\+[\d '’.-]+$/.test(text) && text.replaceAll(/\D/g, '').length > 6 && !/[.,]\d{1,2}$/.test(text)
/** Whether it has more digits before its decimals than are exact. */
const isRounded = (text: string) =>
  text.replace(/[.,]\d{1,2}$/, '').replaceAll(/\D/g, '').length > 15

function guessOf(texts: readonly string[], unit: string, hasComma: boolean): string {
  const isUnclear =
    commaIn(texts) === undefined && texts.some((text) => /[.,]\d{3}$/.test(bare(text)))
  return [
    `numbers written as ${texts.find((text) => /\D/.test(text)) ?? texts[0]}`,
    ...(hasComma ? ['decimal comma'] : []),
    ...(unit === '%' ? ['12.5 means 12.5 %'] : unit ? [`in ${unit}`] : []),
    ...(isUnclear ? ['groups of three digits taken for thousands'] : []),
  ].join(', ')
}

function numberValue(
  text: string,
  { unit, isComma, type }: { unit: string; isComma: boolean; type: string },
): string {
  const without = unit ? `replace(${text}, ${quoteText(unit)}, '')` : text
  const grouped = (isComma ? COMMA_NUMBER : POINT_NUMBER).source.slice(1, -1)
  const tidy = `replace(regexp_replace(trim(${without}), '[\u00a0\u202f]', ' ', 'g'), '−', '-')`
  const shape = `[(]?[-+]? *(?:${grouped}) *-?[)]?`.replaceAll('\\d', '[0-9]')
  const digits = `regexp_replace(${tidy}, ${isComma ? "'[^0-9,]'" : "'[^0-9.]'"}, '', 'g')`
  const number = `TRY_CAST(replace(${digits}, ',', '.') AS ${type})`
  const isNegative = `regexp_matches(${tidy}, '^[(]|-')`
  const value = `CASE WHEN ${isNegative} THEN -${number} ELSE ${number} END`
  return whenShaped(tidy, shape, value)
}

const DAY = '[0-9]{1,2}'
const YEAR = '[0-9]{4}|[0-9]{2}'
const TIME_OF_DAY = `(?:,?[T ]+(${DAY}):([0-9]{2})(?::([0-9]{2}))?(?: ?([aApP])\\.?[mM]\\.?)?)?`
const NUMERIC_DAY = `(${DAY})[./-] ?(${DAY})[./-] ?(${YEAR})`
const YEAR_FIRST = `([0-9]{4})[./年-] ?(${DAY})[./月-] ?(${DAY})日?`
const WEEKDAY = '(?:\\p{L}+\\.?,? +)?'
const NAMED_DAY = `${WEEKDAY}(${DAY})(?:\\.|st|nd|rd|th)?[ -]*(?:de )?(\\p{L}+)\\.?,?[ -]*(?:de )?(${YEAR})`
const NAMED_MONTH = `${WEEKDAY}(\\p{L}+)\\.? (${DAY})(?:st|nd|rd|th)?,? ([0-9]{4})`

interface DayShape {
  pattern: string
  /** The meaning of the three captured parts of a date, in order. */
  order: 'dmy' | 'mdy' | 'ymd'
  months?: ReadonlyMap<string, number>
  guess: string
}

function dateReadings(texts: readonly string[], { isMonthFirst }: Locale): Reading[] {
  const shapes = dayShapes(texts, isMonthFirst)
  const hasTime = texts.some((text) => /\d:\d\d/.test(text))
  return shapes.map(({ guess, ...shape }) => ({
    type: hasTime ? 'TIMESTAMP' : 'DATE',
    toValue: (text) => dayValue(text, shape, hasTime),
    guess: `dates written as ${texts[0]}, ${guess}`,
  }))
}

function dayShapes(texts: readonly string[], isMonthFirst: boolean): DayShape[] {
  const all = (pattern: string) => partsOf(texts, pattern)
  if (all(YEAR_FIRST)) return [{ pattern: YEAR_FIRST, order: 'ymd', guess: 'year first' }]
  if (all(NUMERIC_DAY)) return numericShapes(texts, isMonthFirst)
  const dayFirst = all(NAMED_DAY)
  const pattern = dayFirst ? NAMED_DAY : NAMED_MONTH
  const monthNames =
    dayFirst?.map(([, month = '']) => month) ?? all(pattern)?.map(([name = '']) => name)
  const months = monthNames && calendarPlaces('month', monthNames)
  return months ? [{ pattern, order: dayFirst ? 'dmy' : 'mdy', months, guess: 'named months' }] : []
}

function numericShapes(texts: readonly string[], isMonthFirst: boolean): DayShape[] {
  const isMonthFirstHere = monthFirstIn(texts)
  const hasPoints = texts.every((text) => text.includes('.'))
  const isUnclear = isMonthFirstHere === undefined && !hasPoints
  const guess = isUnclear ? ', though no value tells which of the two comes first' : ''
  const shapes: DayShape[] = [
    { pattern: NUMERIC_DAY, order: 'dmy', guess: `day before month${guess}` },
    { pattern: NUMERIC_DAY, order: 'mdy', guess: `month before day${guess}` },
  ]
  return (isMonthFirstHere ?? (isMonthFirst && !hasPoints)) ? shapes.toReversed() : shapes
}

/** Whether the month precedes the day in these dates; undefined if they do not tell. */
export function monthFirstIn(texts: readonly string[]): boolean | undefined {
  const days = partsOf(texts, NUMERIC_DAY)
  if (!days) return undefined
  const isDayFirst = days.some(([first]) => Number(first) > 12)
  const isMonthFirst = days.some(([, second]) => Number(second) > 12)
  return isDayFirst === isMonthFirst ? undefined : isMonthFirst
}

/** The three parts of each text; undefined if one text does not match. */
function partsOf(texts: readonly string[], pattern: string): string[][] | undefined {
  const expression = new RegExp(`^(?:${pattern})${TIME_OF_DAY}$`, 'u')
  const parts = texts.map((text) => expression.exec(text)?.slice(1, 4))
  return parts.every((each) => each !== undefined) && parts.length > 0 ? parts : undefined
}

function dayValue(
  text: string,
  { pattern, order, months }: Omit<DayShape, 'guess'>,
  hasTime: boolean,
): string {
  const shape = `^(?:${pattern})${TIME_OF_DAY}$`
  const part = (place: number) => `regexp_extract(${text}, ${quoteText(shape)}, ${place})`
  const at = (letter: string) => part(order.indexOf(letter) + 1)
  const year = `(CASE WHEN length(${at('y')}) > 2 THEN '' WHEN ${at('y')} > '68' THEN '19' ELSE '20' END || ${at('y')})`
  const month = months ? monthNumber(at('m'), months) : at('m')
  const day = `${year} || '-' || ${month} || '-' || ${at('d')}`
  if (!hasTime) return `TRY_CAST(${day} AS DATE)`
  const half = `lower(${part(7)})`
  const hour = `CASE ${half} WHEN '' THEN TRY_CAST(${part(4)} AS INT) WHEN 'p' THEN TRY_CAST(${part(4)} AS INT) % 12 + 12 ELSE TRY_CAST(${part(4)} AS INT) % 12 END`
  const time = `coalesce(lpad((${hour})::VARCHAR, 2, '0') || ':' || ${part(5)} || ':' || coalesce(nullif(${part(6)}, ''), '00'), '00:00:00')`
  return `TRY_CAST(${day} || ' ' || ${time} AS TIMESTAMP)`
}

function monthNumber(name: string, months: ReadonlyMap<string, number>): string {
  const pairs = [...months].map(([key, place]) => `${quoteText(key)}: '${place + 1}'`)
  return `(MAP {${pairs.join(', ')}})[lower(${name})]`
}
