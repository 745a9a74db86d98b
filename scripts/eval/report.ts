import { readFile, writeFile } from 'node:fs/promises'
import { z } from 'zod'

const Values = z.record(z.string(), z.number())
const Measured = z.object({ id: z.string(), text: z.string(), values: Values })
/** What one configuration was worth: one row for each mode of search, or one for the answers. */
const Report = z.record(
  z.string(),
  z.object({ measures: Values, asked: z.array(Measured).readonly() }),
)

/** One question, with what counts of its outcome. */
export type Measured = z.output<typeof Measured>
export type Report = z.output<typeof Report>

export async function saveReport(file: string, report: Report): Promise<void> {
  await writeFile(file, `${JSON.stringify(report)}\n`)
}

export async function readReport(file: string): Promise<Report> {
  return Report.parse(JSON.parse(await readFile(file, 'utf8')))
}

export interface Comparison {
  name: string
  /** The measures before, now, and the difference. */
  measures: Record<string, { before: number; now: number; difference: number }>
  /** The questions whose outcome differs, with the values that do. */
  questions: { id: string; text: string; differs: Record<string, [before: number, now: number]> }[]
}

/** Compares rows of the same name, or the only rows of both. */
export function compareReports(before: Report, now: Report): Comparison[] {
  const [only, ...others] = Object.keys(before)
  const isPair = others.length === 0 && Object.keys(now).length === 1
  return Object.entries(now).flatMap(([name, own]) => {
    const earlier = before[name] ?? (isPair && only !== undefined ? before[only] : undefined)
    if (!earlier) return []
    const answers = new Map(earlier.asked.map(({ id, values }) => [id, values]))
    return {
      name,
      measures: Object.fromEntries(
        Object.entries(own.measures).flatMap(([measure, value]) => {
          const old = earlier.measures[measure]
          if (old === undefined) return []
          return [[measure, { before: old, now: value, difference: value - old }]]
        }),
      ),
      questions: own.asked.flatMap(({ id, text, values }) => {
        const differs = differencesOf(answers.get(id) ?? {}, values)
        return Object.keys(differs).length > 0 ? [{ id, text, differs }] : []
      }),
    }
  })
}

function differencesOf(before: Measured['values'], now: Measured['values']) {
  return Object.fromEntries(
    Object.entries(now).flatMap(([name, value]): [string, [number, number]][] => {
      const old = before[name]
      return old === undefined || old === value ? [] : [[name, [old, value]]]
    }),
  )
}
