import type { EvaluationComparison, EvaluationRun } from '../../packages/client/src/agent-server.ts'
import { counted } from '../format.ts'
import { Button } from '../parts/controls.tsx'
import { Status } from '../parts/notes.tsx'
import { href } from '../route.ts'
import { comparison, opened, titleOf } from './evaluations.ts'
import { searchAs } from './search-state.ts'

/** What each question came to in the evaluation that is open. */
export function Results() {
  const run = opened.value
  return Object.entries(run?.questions ?? {}).map(([name, questions]) => (
    <section key={name} class="stack" aria-label={`Results: ${name}`}>
      <h3>{nameOf(name)}</h3>
      <ul class="judged">
        {questions.map(({ id, text, answer, values }) => (
          <li key={id} class="row spread">
            <div class="grow">
              {text}
              {answer !== undefined && <p class="hint">{answer}</p>}
            </div>
            <span class="hint">
              {Object.entries(values)
                .map(([name, value]) => `${labelOf(name)} ${shown(name, value)}`)
                .join(' · ')}
            </span>
            {run && <SearchAgain text={text} runs={[run]} />}
          </li>
        ))}
      </ul>
    </section>
  ))
}

/** Shows what the modes and filters of these evaluations find for a question now. */
function SearchAgain({ text, runs }: { text: string; runs: [EvaluationRun, EvaluationRun?] }) {
  return (
    <Button
      icon="search"
      about={`for ${text}`}
      class="quiet"
      onClick={() => {
        searchAs(text, runs)
        location.hash = href('search')
      }}
    >
      Search
    </Button>
  )
}

/** Two evaluations side by side, and the questions that came out differently, the worse ones first. */
export function Comparison() {
  if (!comparison.value) return null
  const { before, now, rows } = comparison.value
  return (
    <>
      <h3>
        {titleOf(before)} → {titleOf(now)}
      </h3>
      <p class="hint">{changesOf(before, now)}</p>
      {rows.map((row) => (
        <section key={row.name} class="stack" aria-label={`Comparison: ${row.name}`}>
          <Measures row={row} />
          <Conclusions tests={row.tests} />
          <p>
            {row.questions.length === 0
              ? 'Every question came out the same.'
              : `${counted(row.questions.length, 'question')} came out differently:`}
          </p>
          <ul class="judged">
            {row.questions
              .toSorted((one, other) => gainOf(one) - gainOf(other))
              .map((question) => (
                <Changed key={question.id} question={question} runs={[before, now]} />
              ))}
          </ul>
        </section>
      ))}
    </>
  )
}

type Row = EvaluationComparison['rows'][number]

/** Which measures differ by more than chance. */
function Conclusions({ tests }: Pick<Row, 'tests'>) {
  return (
    <ul class="stack">
      {Object.entries(tests).map(([name, { questions, difference, significant }]) => (
        <li key={name}>
          {labelOf(name)}:{' '}
          {significant
            ? `${difference > 0 ? 'higher' : 'lower'} by ${shown(name, Math.abs(difference))}, more than chance`
            : 'no difference beyond chance'}{' '}
          <span class="hint">(paired test of {counted(questions, 'question')})</span>
        </li>
      ))}
    </ul>
  )
}

type ChangedQuestion = Row['questions'][number]

function Changed({
  question,
  runs,
}: {
  question: ChangedQuestion
  runs: [EvaluationRun, EvaluationRun]
}) {
  const { text, differs, answers } = question
  const isBetter = gainOf(question) > 0
  return (
    <li class="row spread">
      <div class="grow">
        {text}
        {answers && (
          <>
            <p class="hint">Before: {answers.before}</p>
            <p class="hint">After: {answers.now}</p>
          </>
        )}
      </div>
      <Status tone={isBetter ? 'good' : 'bad'}>{isBetter ? 'Better' : 'Worse'}</Status>
      <span class="hint">
        {Object.entries(differs)
          .map(([name, { before, now }]) => {
            return `${labelOf(name)} ${shown(name, before)} → ${shown(name, now)}`
          })
          .join(' · ')}
      </span>
      <SearchAgain text={text} runs={runs} />
    </li>
  )
}

/** Measures of which less is better. */
const LOSSES = ['unsupported', 'wronglyAbstained']

/** By how much a question came out better, by the first of its measures that differs, which is the most telling. */
function gainOf({ differs }: ChangedQuestion): number {
  const [[name, { before, now }] = ['', { before: 0, now: 0 }]] = Object.entries(differs)
  return LOSSES.includes(name) ? before - now : now - before
}

/** How the settings of two evaluations differ, as far as they are known. */
function changesOf(before: EvaluationRun, now: EvaluationRun): string {
  const [earlier, later] = [settingsOf(before), settingsOf(now)]
  const changes = Object.entries(later).flatMap(([name, value]) =>
    earlier[name] === value ? [] : [`${name}: ${earlier[name]} → ${value}`],
  )
  return changes.length > 0
    ? changes.join(' · ')
    : 'Both ran with the same mode, filter and models. Other settings are not compared.'
}

const settingsOf = ({ mode, effort, filter, judge, models }: EvaluationRun) => {
  const settings: Record<string, string> = {
    Mode: mode ?? 'default',
    Effort: effort ?? 'default',
    Filter: filter ? JSON.stringify(filter) : 'none',
    'Chat model': models.chat,
    'Embedding model': models.embedding ?? 'none',
    Reranker: models.rerank ?? 'none',
    'Answers judged by': judge ? 'the chat model' : 'their facts',
  }
  return settings
}

function Measures({ row }: { row: Row }) {
  return (
    <table class="figures">
      <thead>
        <tr>
          <th scope="col">{nameOf(row.name)}</th>
          <th scope="col">Before</th>
          <th scope="col">After</th>
          <th scope="col">Difference</th>
        </tr>
      </thead>
      <tbody>
        {Object.entries(row.measures).map(([name, { before, now, difference }]) => (
          <tr key={name}>
            <th scope="row">{labelOf(name)}</th>
            <td>{shown(name, before)}</td>
            <td>{shown(name, now)}</td>
            <td>{`${difference > 0 ? '+' : ''}${shown(name, difference)}`}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const nameOf = (row: string) => (row === 'answers' ? 'Answers' : 'Search')

const LABELS: Record<string, string> = {
  queries: 'Questions',
  degraded: 'Degraded',
  'recall@10': 'Recall@10',
  'held out: nDCG@10': 'Held out: nDCG@10',
  'held out: MRR@10': 'Held out: MRR@10',
  mrr: 'MRR',
  answerable: 'Answerable',
  unanswerable: 'Not answerable',
  right: 'Right',
  wronglyAbstained: 'Wrongly abstained',
  cited: 'Right document cited',
  citationPrecision: 'Citation precision',
  citationRecall: 'Citation recall',
  citedByModel: 'Cited by the model itself',
  unsupported: 'Unsupported',
  abstained: 'Abstained',
}

const labelOf = (measure: string) => LABELS[measure] ?? measure

/** A measure with as many digits as tell something. */
export function shown(measure: string, value: number): string {
  const rounded = measure.endsWith(' ms') ? Math.round(value) : Number(value.toFixed(4))
  return String(rounded).replace('-', '−')
}
