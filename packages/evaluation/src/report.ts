import { z } from 'zod'
import { mean } from './measures.ts'
import { isSignificant } from './paired-test.ts'
import { type EvaluationComparison, Outcome, Values } from './schema.ts'

const Row = z.object({ measures: Values, asked: z.array(Outcome).readonly() })
/** What one configuration was worth: one row for each mode of search, or one for the answers. */
export const Report = z.record(z.string(), Row)

export type Row = z.output<typeof Row>
export type Report = z.output<typeof Report>

/** Leaves out what could not be measured, since nothing was asked for it. */
export function rowOf(measures: Record<string, number>, asked: Row['asked']): Row {
  const measured = Object.entries(measures).filter(([, value]) => !Number.isNaN(value))
  return { measures: Object.fromEntries(measured), asked }
}

/** Compares rows of the same name, or the only rows of both. */
export function compareReports(earlier: Report, later: Report): EvaluationComparison['rows'] {
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
      tests: pairedTests(outcomes, own.asked),
      questions: own.asked.flatMap(({ id, text, values, answer: now }) => {
        const earlier = outcomes.get(id)
        const differs = differencesOf(earlier?.values ?? {}, values)
        if (Object.keys(differs).length === 0) return []
        const earlierAnswer = earlier?.answer
        const hasBoth = earlierAnswer !== undefined && now !== undefined
        return [{ id, text, differs, ...(hasBoth && { answers: { before: earlierAnswer, now } }) }]
      }),
    }
  })
}

function differencesOf(earlier: Outcome['values'], later: Outcome['values']) {
  return Object.fromEntries(
    Object.entries(later).flatMap(([name, now]): [string, { before: number; now: number }][] => {
      const before = earlier[name]
      return before === undefined || before === now ? [] : [[name, { before, now }]]
    }),
  )
}

/** Tests each measure that both reports have for the same questions. */
function pairedTests(earlier: ReadonlyMap<string, Outcome>, later: readonly Outcome[]) {
  const pairs = later.flatMap(({ id, values }) =>
    Object.entries(values).flatMap(([measure, now]) => {
      const before = earlier.get(id)?.values[measure]
      return before === undefined ? [] : [{ measure, difference: now - before }]
    }),
  )
  return Object.fromEntries(
    Map.groupBy(pairs, ({ measure }) => measure)
      .entries()
      .map(([measure, own]) => {
        const differences = own.map(({ difference }) => difference)
        const difference = mean(differences)
        return [
          measure,
          { questions: own.length, difference, significant: isSignificant(differences) },
        ]
      }),
  )
}
