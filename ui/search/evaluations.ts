import { signal } from '@preact/signals'
import type {
  CreateEvaluationRun,
  EvaluationComparison,
  EvaluationReport,
  EvaluationRun,
} from '../../packages/client/src/agent-server.ts'
import { attempt, client } from '../api.ts'
import { formatDate } from '../format.ts'
import { onSignOut } from '../session.ts'

/** The evaluations of the server, the newest first, as this page last read them. */
export const evaluations = signal<readonly EvaluationRun[]>([])
/** The one whose results are shown. */
export const opened = signal<EvaluationReport | undefined>(undefined)
/** The evaluations that are compared, at most two, by their ids; and their differences. */
export const comparedIds = signal<readonly string[]>([])
export const comparison = signal<EvaluationComparison | undefined>(undefined)
/** What was wrong with the last thing that was tried, in words. */
export const failure = signal('')

onSignOut(() => {
  evaluations.value = []
  opened.value = undefined
  comparedIds.value = []
  comparison.value = undefined
})

export const isRunning = ({ state }: EvaluationRun): boolean => state === 'running'

export function titleOf({ name, mode, models, createdAt }: EvaluationRun): string {
  const about = name ?? [mode, models.chat].filter(Boolean).join(', ')
  return `${about}, ${formatDate(createdAt)}`
}

/** Throws what the server says. */
export async function readEvaluations(): Promise<void> {
  evaluations.value = await client.evaluation.runs.list()
}

/** `options` is made within, since it may throw what is wrong with the filter. */
export const begin = (options: () => CreateEvaluationRun) =>
  attempt(failure, async () => {
    await client.evaluation.runs.create(options())
    await readEvaluations()
  })

export const cancel = (id: string) =>
  attempt(failure, async () => {
    await client.evaluation.runs.cancel(id)
    await readEvaluations()
  })

/** Shows the results of one, or none. */
export const open = (id: string | undefined) =>
  attempt(failure, async () => {
    opened.value = id === undefined ? undefined : await client.evaluation.runs.get(id)
  })

/** Takes one into the comparison, or out of it; of three, the first goes. */
export const choose = (id: string) =>
  attempt(failure, async () => {
    const others = comparedIds.value.filter((one) => one !== id)
    comparedIds.value =
      others.length < comparedIds.value.length ? others : [...others, id].slice(-2)
    comparison.value = undefined
    // The list begins with the newest.
    const [now, before] = evaluations.value.filter((one) => comparedIds.value.includes(one.id))
    if (now && before) comparison.value = await client.evaluation.runs.compare(before.id, now.id)
  })
