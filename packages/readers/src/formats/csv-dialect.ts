import { type Dialect, readDelimited } from './delimited-rows.ts'

/** In a tie the first one is taken: the comma also occurs within numbers, titles and notes. */
const DELIMITERS = ['\t', ';', '|', ',', '^', '~', '¦'] as const
const SAMPLE_CHARACTERS = 65_536
const SAMPLE_ROWS = 200
/** The line that names the delimiter for Excel. */
const DECLARATION = /^\ufeff?sep=([^\n])\n/i
/** Names of files whose values are separated by tabs. */
const TAB_SEPARATED = /\.(?:tsv|tab)$/i
/** Share of rows of one width that another delimiter must reach to be as likely. */
const AS_LIKELY = 0.95
/** What numbers, days and times consist of. */
const FIGURES = /^[-+\d.,:/ %€$£]+$/

export interface ChosenDialect extends Dialect {
  /** Where the first row begins. */
  start: number
  /** Whether some value is quoted after a blank, which few programs read. */
  hasSpacedQuotes: boolean
  /** Why the values may have been divided wrongly. */
  doubt?: string
}

interface Candidate {
  dialect: Dialect
  /** The share of the rows that have the most frequent number of values, if that is more than one. */
  evenness: number
  /** The share of values without any other delimiter; figures may have a comma. */
  purity: number
  strayQuotes: number
  spacedQuotes: number
}

/**
 * The dialect in which most rows of the beginning have the same number of values, with quotation marks paired first. The
 * name of a file with tabs counts, and so does a first line `sep=`.
 */
export function dialectOf(text: string, name = ''): ChosenDialect {
  const declaration = DECLARATION.exec(text)
  const start = declaration?.[0].length ?? 0
  const sample = sampleOf(text, start)
  const stated = declaration?.[1] ?? (TAB_SEPARATED.test(name) ? '\t' : undefined)
  const named = stated === undefined ? undefined : candidateOf(sample, stated)
  const isNamed = named !== undefined && (declaration !== null || named.evenness > 0)
  const [likeliest = candidateOf(sample, ','), ...others] = DELIMITERS.filter((delimiter) =>
    sample.includes(delimiter),
  )
    .map((delimiter) => candidateOf(sample, delimiter))
    .filter(({ evenness }) => evenness > 0)
    .toSorted(byLikelihood)
  const best = isNamed ? named : likeliest
  const doubt = isNamed ? quotingDoubt(best) : doubtOf(best, others)
  return {
    ...best.dialect,
    start,
    hasSpacedQuotes: best.spacedQuotes > 0,
    ...(doubt !== undefined && { doubt }),
  }
}

/** Complete lines, as far as they go. */
function sampleOf(text: string, start: number): string {
  const sample = text.slice(start, start + SAMPLE_CHARACTERS)
  const isCut = start + SAMPLE_CHARACTERS < text.length
  const end = isCut ? sample.lastIndexOf('\n') : -1
  return end < 0 ? sample : sample.slice(0, end)
}

function byLikelihood(one: Candidate, other: Candidate): number {
  const isClear = Math.abs(one.evenness - other.evenness) > 1 - AS_LIKELY
  return isClear ? other.evenness - one.evenness : other.purity - one.purity
}

/** Reads the sample with each way of quoting that it shows; the one that leaves fewest marks astray is taken. */
function candidateOf(sample: string, delimiter: string): Candidate {
  const quotings: Omit<Dialect, 'delimiter'>[] = [{ quote: '"', hasBackslashes: false }]
  if (sample.includes('\\"')) quotings.push({ quote: '"', hasBackslashes: true })
  if (!sample.includes('"') && hasSingleQuotes(sample, delimiter)) {
    quotings.unshift({ quote: "'", hasBackslashes: sample.includes("\\'") })
  }
  const candidates = quotings.map((quoting) => measured(sample, { delimiter, ...quoting }))
  return candidates.reduce((best, each) =>
    each.strayQuotes < best.strayQuotes && each.evenness >= best.evenness ? each : best,
  )
}

/** Whether apostrophes stand around whole values; within words they are apostrophes. */
function hasSingleQuotes(sample: string, delimiter: string): boolean {
  const values = sample.split('\n').flatMap((line) => line.split(delimiter))
  const [opened, closed] = [/^ *'/, /' *$/].map(
    (edge) => values.filter((value) => edge.test(value)).length,
  )
  return opened !== undefined && opened > 0 && opened === closed
}

function measured(sample: string, dialect: Dialect): Candidate {
  const { rows, strayQuotes, spacedQuotes } = readDelimited(sample, dialect, SAMPLE_ROWS)
  const filled = rows.filter((row) => row.some((value) => value.trim() !== ''))
  const counts = new Map<number, number>()
  for (const { length } of filled) counts.set(length, (counts.get(length) ?? 0) + 1)
  counts.delete(1)
  const most = Math.max(0, ...counts.values())
  const values = filled.flat()
  const others = DELIMITERS.filter((other) => other !== dialect.delimiter)
  const pure = values.filter((value) =>
    FIGURES.test(value) ? !/[;|\t]/.test(value) : !others.some((other) => value.includes(other)),
  )
  return {
    dialect,
    evenness: filled.length === 0 ? 0 : most / filled.length,
    purity: values.length === 0 ? 0 : pure.length / values.length,
    strayQuotes,
    spacedQuotes,
  }
}

const NAMES: Record<string, string> = {
  '\t': 'tabs',
  ';': 'semicolons',
  '|': 'bars',
  ',': 'commas',
}
const nameOf = (delimiter: string) => NAMES[delimiter] ?? `"${delimiter}"`

function doubtOf(best: Candidate, others: readonly Candidate[]): string | undefined {
  const rival = others.find(
    ({ evenness, purity }) =>
      evenness >= best.evenness * AS_LIKELY && purity >= best.purity * AS_LIKELY,
  )
  if (!rival) return quotingDoubt(best)
  const [chosen, other] = [best, rival].map(({ dialect }) => nameOf(dialect.delimiter))
  return `its values are divided at ${chosen}, though ${other} would divide them as evenly`
}

function quotingDoubt({ strayQuotes, evenness }: Candidate): string | undefined {
  if (strayQuotes === 0 || evenness >= AS_LIKELY) return undefined
  return 'some of its quotation marks are not closed, or stand within values'
}
