/** What a provider has announced of its models; a date in a server's own list comes first. */
interface Announcement {
  provider: string
  /** Whose dates these are; a model of the same name elsewhere, as at Azure, has others. */
  host: string
  /** Where it stands. */
  source: string
  /** By the day on which they are closed; snapshots with a date of their own count as the model. */
  closings: Readonly<Record<string, readonly string[]>>
}

/** When the pages below were last read. */
export const ANNOUNCEMENTS_READ_ON = '2026-11-29'

export const ANNOUNCEMENTS: readonly Announcement[] = [
  {
    provider: 'OpenAI',
    host: 'api.openai.com',
    source: 'https://developers.openai.com/api/docs/deprecations',
    closings: {
      '2026-10-23': [
        'gpt-3.5-turbo',
        'gpt-4',
        'gpt-4-turbo',
        'gpt-4.1-nano',
        'gpt-4o-2024-05-13',
        'o1',
        'o1-pro',
        'o3-mini',
        'o4-mini',
      ],
      '2026-12-11': ['gpt-5', 'gpt-5-mini', 'gpt-5-nano', 'gpt-5-pro', 'o3', 'o3-pro'],
      '2027-01-14': ['gpt-4.1', 'gpt-4.1-mini', 'gpt-4o', 'gpt-4o-mini'],
      '2027-04-01': ['gpt-5.1', 'gpt-5.3-codex', 'gpt-5.4-nano'],
    },
  },
  {
    provider: 'Anthropic',
    host: 'api.anthropic.com',
    source: 'https://platform.claude.com/docs/en/about-claude/model-deprecations',
    closings: {
      '2026-02-19': ['claude-3-5-haiku', 'claude-3-7-sonnet'],
      '2026-04-20': ['claude-3-haiku'],
      '2026-06-15': ['claude-opus-4', 'claude-opus-4-0', 'claude-sonnet-4', 'claude-sonnet-4-0'],
      '2026-08-05': ['claude-opus-4-1'],
    },
  },
  {
    provider: 'Google',
    host: 'generativelanguage.googleapis.com',
    source: 'https://ai.google.dev/gemini-api/docs/deprecations',
    closings: {
      '2026-05-25': ['gemini-3.1-flash-lite-preview'],
      '2026-06-01': ['gemini-2.0-flash', 'gemini-2.0-flash-lite'],
      '2026-12-01': ['gemini-2.5-flash', 'gemini-2.5-pro'],
      '2027-05-07': ['gemini-3.1-flash-lite'],
    },
  },
]

/** The day on which a model is closed, as its provider has announced it; undefined if nothing is known. */
export function announcedClosing(model: string, baseUrl: string): string | undefined {
  const { hostname } = new URL(baseUrl)
  // OpenAI also has hosts of regions, such as eu.api.openai.com.
  const one = ANNOUNCEMENTS.find(({ host }) => hostname === host || hostname.endsWith(`.${host}`))
  const entries = Object.entries(one?.closings ?? {})
  const dayOf = (name: string) => entries.find(([, models]) => models.includes(name))?.[0]
  // Models that are tuned are closed with theirs; Google lists its models as models/….
  const name = model.replace(/^(?:ft:([^:]+):.*|models\/(.+))$/, '$1$2')
  return dayOf(name) ?? dayOf(name.replace(/-(?:\d{4}-\d{2}-\d{2}|\d{8}|00\d|latest)$/, ''))
}

/** UTC milliseconds between which a date is one of a closing; others are rubbish, or counted in another unit. */
const FIRST_DATE = Date.UTC(2020)
const LAST_DATE = Date.UTC(2100)

/** The day that a value of a server's list means, as YYYY-MM-DD in UTC: a date, or seconds since 1970. */
export function dayIn(value: unknown): string | undefined {
  const isSeconds = typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value))
  const isDate = typeof value === 'string' && /^\d{4}-\d{2}-\d{2}(?:$|T)/.test(value)
  const time = isSeconds ? Number(value) * 1_000 : isDate ? Date.parse(value) : Number.NaN
  return time >= FIRST_DATE && time < LAST_DATE
    ? new Date(time).toISOString().slice(0, 10)
    : undefined
}

const DAY_MS = 86_400_000
/** How long before its closing the server warns of it. */
const NOTICE_DAYS = 60

const LONG_DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

/** What to say of a model that is closed on this day: a sentence from `NOTICE_DAYS` before, undefined until then. */
export function closingNotice(
  { model, setting, closesOn }: { model: string; setting: string; closesOn: string },
  now = Date.now(),
): string | undefined {
  const days = Math.ceil((Date.parse(closesOn) - now) / DAY_MS)
  if (days > NOTICE_DAYS) return undefined
  const day = LONG_DATE.format(new Date(closesOn))
  const when =
    days < 0 ? `was closed on ${day}` : `closes on ${day}${days > 0 ? ` (${inDays(days)})` : ''}`
  return `The model ${model} ${when}: set ${setting} to another`
}

const inDays = (days: number) => (days === 1 ? 'tomorrow' : `in ${days} days`)
