import { useSignal } from '@preact/signals'
import type { EvaluationRun } from '../../packages/client/src/agent-server.ts'
import { counted } from '../format.ts'
import { Button, bound, boundBox, Field, Form } from '../parts/controls.tsx'
import { FilterField, parseFilter } from '../parts/filter-field.tsx'
import { ErrorNote, Status, type Tone } from '../parts/notes.tsx'
import { usePolled } from '../poll.ts'
import { Comparison, Results, shown } from './evaluation-results.tsx'
import {
  begin,
  cancel,
  choose,
  comparedIds,
  evaluations,
  failure,
  isRunning,
  open,
  opened,
  readEvaluations,
  titleOf,
} from './evaluations.ts'
import { judged } from './judged.ts'
import { type Mode, ModeField } from './mode-field.tsx'

const POLL_MS = 2_000

/** Measures settings with the judged questions, on the server. */
export function EvaluationRuns() {
  const polled = usePolled(readEvaluations, POLL_MS)
  return (
    <section class="panel stack" aria-labelledby="evaluations">
      <h2 id="evaluations">Evaluations</h2>
      <p class="hint">
        The server asks all judged questions, and goes on when you leave this page. Choose two
        evaluations to compare them, question by question.
      </p>
      <ErrorNote message={failure.value || polled.failure.value} />
      {judged.value.length > 0 && <Begin />}
      {evaluations.value.length > 0 && (
        <ul class="judged">
          {evaluations.value.map((run) => (
            <Run key={run.id} run={run} />
          ))}
        </ul>
      )}
      <Comparison />
    </section>
  )
}

function Begin() {
  const name = useSignal('')
  const answers = useSignal(false)
  const judge = useSignal(false)
  const mode = useSignal<Mode>('')
  const filter = useSignal('')
  const isBusy = evaluations.value.some(isRunning)
  const evaluate = () =>
    begin(() => ({
      name: name.value.trim() || null,
      answers: answers.value,
      judge: answers.value && judge.value,
      filter: parseFilter(filter.value) ?? null,
      mode: mode.value || null,
    }))
  return (
    <Form class="stack" onSubmit={() => void (isBusy || evaluate())}>
      <Field label="Name of the evaluation (optional)">
        <input type="text" maxLength={100} {...bound(name)} />
      </Field>
      <details class="settings">
        <summary>Settings</summary>
        <div class="settings-fields asked">
          <ModeField mode={mode} />
          <FilterField text={filter} />
        </div>
      </details>
      <label class="check">
        <input type="checkbox" {...boundBox(answers)} />
        Also ask the agent the questions that have a fact
      </label>
      {answers.value && (
        <label class="check">
          <input type="checkbox" {...boundBox(judge)} />
          Let the chat model judge the answers
        </label>
      )}
      <div class="row">
        <Button icon="start" type="submit" class="primary" disabled={isBusy}>
          Evaluate {counted(judged.value.length, 'question')}
        </Button>
      </div>
    </Form>
  )
}

const MEASURES = [
  ['nDCG@10', 'search', 'nDCG@10'],
  ['Recall@10', 'search', 'recall@10'],
  ['MRR@10', 'search', 'MRR@10'],
  ['Right', 'answers', 'right'],
  ['Abstained', 'answers', 'abstained'],
] as const

function Run({ run }: { run: EvaluationRun }) {
  const title = titleOf(run)
  const isOpen = opened.value?.id === run.id
  const measures = MEASURES.flatMap(([label, row, measure]) => {
    const value = run.measures?.[row]?.[measure]
    return value === undefined ? [] : `${label} ${shown(measure, value)}`
  })
  return (
    <li>
      <div class="row spread">
        <label class="check grow">
          <input
            type="checkbox"
            aria-label={`Compare ${title}`}
            disabled={run.state !== 'done'}
            checked={comparedIds.value.includes(run.id)}
            onChange={() => void choose(run.id)}
          />
          {title}
        </label>
        <State run={run} />
        {run.state === 'done' && (
          <Button
            icon="list"
            about={`of ${title}`}
            class="quiet"
            aria-expanded={isOpen}
            onClick={() => void open(isOpen ? undefined : run.id)}
          >
            Results
          </Button>
        )}
      </div>
      {measures.length > 0 && <p class="hint">{measures.join(' · ')}</p>}
      {isOpen && <Results />}
    </li>
  )
}

const STATES: Record<EvaluationRun['state'], [Tone, string]> = {
  running: ['busy', 'Running'],
  done: ['good', 'Done'],
  failed: ['bad', 'Failed'],
  cancelled: ['off', 'Cancelled'],
  interrupted: ['off', 'Interrupted: the server stopped'],
}

function State({ run }: { run: EvaluationRun }) {
  const [tone, word] = STATES[run.state]
  if (!isRunning(run)) {
    return <Status tone={tone}>{run.error ? `${word}: ${run.error}` : word}</Status>
  }
  return (
    <>
      <Status tone={tone}>
        {run.asked} of {run.total} asked
      </Status>
      <Button icon="cancel" class="quiet" onClick={() => void cancel(run.id)}>
        Cancel
      </Button>
    </>
  )
}
