import type { Filter, Metadata, MetadataValue } from '@agent-server/schemas/metadata.ts'
import type { Random } from '../support/random.ts'

/** Names that look alike where a dot or a dash means something. */
const FIELDS = ['color', 'size', 'on', 'at.day', 'at-day', 'at-dday'] as const

const DATES = [
  '2025-12-31',
  '2026-01-01',
  '2026-01-02',
  '2026',
  '2026-01-01T10:00:00Z',
  '2026-01-01T10:00:00.123Z',
  '2026-01-01T10:00:00.123+01:00',
  '2026-01-01T10:00:00.123+0100',
]
/** One alike in its first thirty bytes, and a pair that UTF-16 and code points order differently. */
const TEXTS = [
  'red',
  'blue',
  'Red',
  '',
  'redred',
  'redred ',
  'redredr',
  `${DATES[5]} and more`,
  `${DATES[5]} and less`,
  'long '.repeat(60),
  `${'long '.repeat(60)}er`,
  '\u{1F44B}',
  '\uFFFD',
  'Gr\u00FC\u00DFe \u{1F44B}',
]
const NUMBERS = [0, 1, -1.5, 2, 0.1, -0.1, 2 ** 53, 1e21, 5e-324, -1.7e308]
const VALUES: readonly MetadataValue[] = [...DATES, ...TEXTS, ...NUMBERS, true, false]
const BOUNDS = [...DATES, ...TEXTS, ...NUMBERS]

export function randomMetadata({ next, pick }: Random): Metadata {
  const chosen = FIELDS.filter(() => next() < 0.7)
  return Object.fromEntries(chosen.map((field) => [field, pick(VALUES) ?? 0]))
}

export function randomFilter(random: Random, depth: number): Filter {
  const { below, next, pick } = random
  const some = () => Array.from({ length: 1 + below(3) }, () => randomFilter(random, depth - 1))
  const kind = depth > 0 ? next() : 0
  if (kind > 0.85) return { not: randomFilter(random, depth - 1) }
  if (kind > 0.7) return { and: some() }
  if (kind > 0.5) return { or: some() }
  const field = pick(FIELDS) ?? 'color'
  const bound = () => pick(BOUNDS) ?? 0
  const conditions: Filter[] = [
    { field, eq: pick(VALUES) },
    { field, in: Array.from({ length: 1 + below(20) }, () => pick(VALUES) ?? 0) },
    { field, gt: bound() },
    { field, gte: bound(), lt: bound() },
    { field, lte: bound() },
  ]
  return pick(conditions) ?? { field, eq: 0 }
}
