import { z } from 'zod'

const Values = z.record(z.string(), z.number())
export const Measured = z.object({
  id: z.string(),
  text: z.string(),
  /** What the agent said. */
  answer: z.string().optional(),
  values: Values,
})
export const Row = z.object({ measures: Values, asked: z.array(Measured).readonly() })
/** What one configuration was worth: one row for each mode of search, or one for the answers. */
export const Report = z.record(z.string(), Row)

/** One question, with what counts of its outcome. */
export type Measured = z.output<typeof Measured>
export type Row = z.output<typeof Row>
export type Report = z.output<typeof Report>

/** Leaves out what could not be measured, since nothing was asked for it. */
export function rowOf(measures: Record<string, number>, asked: Row['asked']): Row {
  const measured = Object.entries(measures).filter(([, value]) => !Number.isNaN(value))
  return { measures: Object.fromEntries(measured), asked }
}

interface Difference {
  before: number
  now: number
}

interface Comparison {
  name: string
  /** The measures before, now, and the difference. */
  measures: Record<string, Difference & { difference: number }>
  /** The questions whose outcome differs, with the values that do, and what the agent said both times. */
  questions: {
    id: string
    text: string
    differs: Record<string, Difference>
    answers?: { before: string; now: string }
  }[]
}

/** Compares rows of the same name, or the only rows of both. */
export function compareReports(earlier: Report, later: Report): Comparison[] {
  const [only, ...others] = Object.keys(earlier)
  const isPair = others.length === 0 && Object.keys(later).length === 1
  return Object.entries(later).flatMap(([name, own]) => {
    const before = earlier[name] ?? (isPair && only !== undefined ? earlier[only] : undefined)
    if (!before) return []
    const outcomes = new Map(before.asked.map((outcome) => [outcome.id, outcome]))
    return {
      name,
      measures: Object.fromEntries(
        Object.entries(own.measures).flatMap(([measure, now]) => {
          const old = before.measures[measure]
          return old === undefined ? [] : [[measure, { before: old, now, difference: now - old }]]
        }),
      ),
      questions: own.asked.flatMap(({ id, text, values, answer: now }) => {
        const earlier = outcomes.get(id)
        const differs = differencesOf(earlier?.values ?? {}, values)
        if (Object.keys(differs).length === 0) return []
        const said = earlier?.answer
        const hasBoth = said !== undefined && now !== undefined
        return [{ id, text, differs, ...(hasBoth && { answers: { before: said, now } }) }]
      }),
    }
  })
}

function differencesOf(earlier: Measured['values'], later: Measured['values']) {
  return Object.fromEntries(
    Object.entries(later).flatMap(([name, now]): [string, Difference][] => {
      const before = earlier[name]
      return before === undefined || before === now ? [] : [[name, { before, now }]]
    }),
  )
}
