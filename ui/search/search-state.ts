import { signal } from '@preact/signals'
import type {
  EvaluationRun,
  QueryRequest,
  QueryResult,
} from '../../packages/client/src/agent-server.ts'
import { client, messageOf } from '../api.ts'
import { chosenCollection } from '../collections/collections.ts'
import { parseFilter } from '../parts/filter-field.tsx'
import { onSignOut } from '../session.ts'
import type { Mode } from './mode-field.tsx'

/** One setting of a search and what it found; two stand side by side. */
function createTrial(topK: string) {
  const trial = {
    topK: signal(topK),
    filter: signal(''),
    mode: signal<Mode>(''),
    result: signal<QueryResult | undefined>(undefined),
    milliseconds: signal(0),
    failure: signal(''),
  }

  /** The very body that `/query` is sent. Throws a SyntaxError. */
  const requestOf = (query: string): QueryRequest => {
    const filter = parseFilter(trial.filter.value)
    const { value: mode } = trial.mode
    const count = trial.topK.value === '' ? {} : { topK: Number(trial.topK.value) }
    const { value: collection } = chosenCollection
    return {
      query,
      ...count,
      ...(filter && { filter }),
      ...(collection !== '' && { collection }),
      ...(mode && { mode }),
      explain: true,
    }
  }

  const run = async (query: string) => {
    const started = performance.now()
    try {
      trial.result.value = await client.query(requestOf(query))
      trial.milliseconds.value = performance.now() - started
      trial.failure.value = ''
    } catch (error) {
      trial.result.value = undefined
      trial.failure.value = messageOf(error)
    }
  }
  return { ...trial, requestOf, run }
}

export type Trial = ReturnType<typeof createTrial>

/** Kept while other pages are open. */
export const search = {
  query: signal(''),
  isComparing: signal(false),
  isBusy: signal(false),
  trials: [createTrial('5'), createTrial('20')] as const,
}

onSignOut(() => {
  search.query.value = ''
  for (const { result } of search.trials) result.value = undefined
})

let isAskedAgain = false

/** Runs once more if it was requested meanwhile: the question or the settings may have changed. */
export async function runSearch(): Promise<void> {
  isAskedAgain = true
  if (search.isBusy.value) return
  search.isBusy.value = true
  while (isAskedAgain) {
    isAskedAgain = false
    const query = search.query.value.trim()
    if (query === '') break
    const [first, second] = search.trials
    await Promise.all([first.run(query), search.isComparing.value && second.run(query)])
  }
  search.isBusy.value = false
}

/** Searches as an evaluation did, and side by side with another one, if that searched in another way. */
export function searchAs(query: string, [first, second]: [Searched, Searched?]): void {
  search.query.value = query
  const ways = [first, second ?? first]
  for (const [place, trial] of search.trials.entries()) {
    trial.mode.value = ways[place]?.mode ?? ''
    trial.filter.value = filterOf(ways[place])
    trial.topK.value = '10'
  }
  // An evaluation searches all documents, or what its filter says.
  chosenCollection.value = ''
  search.isComparing.value =
    second !== undefined && (first.mode !== second.mode || filterOf(first) !== filterOf(second))
  void runSearch()
}

type Searched = Pick<EvaluationRun, 'mode' | 'filter'>

const filterOf = ({ filter }: Partial<Searched> = {}) => (filter ? JSON.stringify(filter) : '')
