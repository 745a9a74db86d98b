import { z } from 'zod'

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const
const MIN_INTERVAL_MS = 5 * UNITS.m
const MAX_INTERVAL_MS = 366 * UNITS.d

/** How many milliseconds an interval such as `1d` has; NaN for what is none. */
export function intervalMs(interval: string): number {
  const { count, unit = '' } = /^(?<count>\d{1,4})(?<unit>[mhdw])$/.exec(interval)?.groups ?? {}
  return Number(count) * (new Map<string, number>(Object.entries(UNITS)).get(unit) ?? Number.NaN)
}

export const WebAddress = z
  .url({ protocol: /^https?$/, error: 'must be an address that begins with http:// or https://' })
  .max(4_000)

export const RefreshInterval = z
  .string()
  .max(5)
  .refine(
    (interval) => {
      const milliseconds = intervalMs(interval)
      return milliseconds >= MIN_INTERVAL_MS && milliseconds <= MAX_INTERVAL_MS
    },
    {
      error:
        'must be a number of minutes, hours, days or weeks such as 30m, 12h, 1d or 2w, from 5m to 366d',
    },
  )
  .meta({
    description: 'How often the page is fetched again, such as `1d`; without it only on demand.',
    examples: ['1d'],
  })

export const DocumentSource = z
  .object({
    refresh: z.string().optional(),
    fetchedAt: z.iso.datetime().describe('When it was last asked for.'),
    status: z
      .int()
      .optional()
      .describe('The HTTP status of the answer; absent where there was none.'),
    error: z
      .string()
      .optional()
      .describe('Why there is nothing new; the document stays as it was.'),
    nextAt: z.iso.datetime().optional().describe('When it is fetched next.'),
  })
  .meta({ id: 'DocumentSource', description: 'The last fetch of the address in `url`.' })

export type DocumentSource = z.output<typeof DocumentSource>
