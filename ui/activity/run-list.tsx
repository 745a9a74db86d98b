import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { RunSummary } from '../../packages/client/src/agent-server.ts'
import { attempt, client } from '../api.ts'
import { formatSeconds, formatTime } from '../format.ts'
import { principalName } from '../parts/access-list.tsx'
import { Empty, ErrorNote, Status } from '../parts/notes.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { href } from '../route.ts'
import { GOOD_ENDS, outcomeOf } from './run-view.tsx'

/** As many as the server lists at once. */
const MAX_RUNS = 200

/** The last runs of the agent, the newest first: the question, the outcome, and the duration. */
export function RunList() {
  const runs = useSignal<readonly RunSummary[] | undefined>(undefined)
  const failure = useSignal('')
  useEffect(() => {
    void attempt(failure, async () => {
      runs.value = await client.admin.runs({ limit: MAX_RUNS })
    })
  }, [])
  return (
    <section class="stack events-place" aria-labelledby="answers">
      <h2 id="answers">Answers</h2>
      <ErrorNote message={failure.value} />
      {!runs.value && failure.value === '' && <Skeleton rows={6} />}
      {runs.value?.length === 0 && (
        <Empty title="No answers yet">
          <p>RUNS_KEPT sets how many runs of the agent are kept, for 30 days at most.</p>
        </Empty>
      )}
      {runs.value && runs.value.length > 0 && (
        <ol class="events runs panel">
          {runs.value.map((run) => (
            <li key={run.id}>
              <time class="hint" dateTime={run.startedAt}>
                {formatTime(run.startedAt)}
              </time>
              <Status tone={GOOD_ENDS.includes(run.outcome) ? 'good' : 'bad'}>
                {outcomeOf(run)}
              </Status>
              <div class="event-text">
                <a href={href('activity', run.id)} dir="auto">
                  {run.question || 'A run without a question'}
                </a>{' '}
                <span class="hint">{run.person ? principalName(run.person) : run.key}</span>
              </div>
              <span class="hint">{formatSeconds(run.milliseconds)}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}
