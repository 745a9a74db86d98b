import type { EvaluationComparison } from '../../client/src/agent-server.ts'
import { counted } from '../format.ts'
import { comparison, opened, titleOf } from './evaluations.ts'

/** What each question came to in the evaluation that is open. */
export function Results() {
  return Object.entries(opened.value?.questions ?? {}).map(([name, questions]) => (
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
          </li>
        ))}
      </ul>
    </section>
  ))
}

/** Two evaluations side by side, and the questions that came out differently. */
export function Comparison() {
  if (!comparison.value) return null
  const { before, now, rows } = comparison.value
  return (
    <>
      <h3>
        {titleOf(before)} → {titleOf(now)}
      </h3>
      {rows.map((row) => (
        <section key={row.name} class="stack" aria-label={`Comparison: ${row.name}`}>
          <Measures row={row} />
          <p>
            {row.questions.length === 0
              ? 'Every question came out the same.'
              : `${counted(row.questions.length, 'question')} came out differently:`}
          </p>
          <ul class="judged">
            {row.questions.map(({ id, text, differs }) => (
              <li key={id} class="row spread">
                <span class="grow">{text}</span>
                <span class="hint">
                  {Object.entries(differs)
                    .map(([name, { before, now }]) => {
                      return `${labelOf(name)} ${shown(name, before)} → ${shown(name, now)}`
                    })
                    .join(' · ')}
                </span>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  )
}

function Measures({ row }: { row: EvaluationComparison['rows'][number] }) {
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
  unsupported: 'Unsupported',
  abstained: 'Abstained',
}

const labelOf = (measure: string) => LABELS[measure] ?? measure

/** A measure with as many digits as tell something. */
export function shown(measure: string, value: number): string {
  const rounded = measure.endsWith(' ms') ? Math.round(value) : Number(value.toFixed(4))
  return String(rounded).replace('-', '−')
}
