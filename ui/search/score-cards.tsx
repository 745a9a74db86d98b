import type { EvaluationRun } from '../../packages/client/src/agent-server.ts'
import { Empty } from '../parts/notes.tsx'
import { href } from '../route.ts'
import { evaluations, titleOf } from './evaluations.ts'
import { judged } from './judged.ts'

interface Score {
  row: 'search' | 'answers'
  /** As the server calls it. */
  measure: string
  title: string
  meaning: string
  /** Whether less is better. */
  isLoss?: true
}

const SCORES: readonly Score[] = [
  {
    row: 'search',
    measure: 'nDCG@10',
    title: 'Ranking',
    meaning: 'nDCG@10: 1 where the right documents come first, less the further down they are',
  },
  {
    row: 'search',
    measure: 'recall@10',
    title: 'Found',
    meaning: 'Recall@10: the share of the right documents among the first ten hits',
  },
  {
    row: 'search',
    measure: 'MRR@10',
    title: 'First right hit',
    meaning: 'MRR@10: 1 if the first hit is right, ½ if the second is, and so on',
  },
  {
    row: 'answers',
    measure: 'right',
    title: 'Right answers',
    meaning: 'Of the questions with a fact: the share whose answer contains it',
  },
  {
    row: 'answers',
    measure: 'citationRecall',
    title: 'Right document cited',
    meaning: 'Citation recall: the share of answers that cite a right document',
  },
  {
    row: 'answers',
    measure: 'unsupported',
    title: 'Unsupported',
    meaning: 'The share of cited statements that their passage does not support',
    isLoss: true,
  },
  {
    row: 'answers',
    measure: 'abstained',
    title: 'Rightly no answer',
    meaning: 'Of the questions that no document answers: the share whose answer says so',
  },
]

/** The measures of the newest evaluation that is done, beside those of the one before it. */
export function ScoreCards() {
  const done = evaluations.value.filter(({ state }) => state === 'done')
  const [newest] = done
  if (!newest) return <HowToBegin />
  const scores = SCORES.flatMap((score) => {
    const value = measured(newest, score)
    if (value === undefined) return []
    const before = done.slice(1).find((run) => measured(run, score) !== undefined)
    return [{ score, value, before: before && measured(before, score) }]
  })
  return (
    <section class="stack" aria-labelledby="scores">
      <h2 id="scores">{titleOf(newest)}</h2>
      <ul class="scores">
        {scores.map(({ score, value, before }) => (
          <li key={score.title} class="panel">
            <h3>{score.title}</h3>
            <p class="score-value">
              {shownScore(score, value)}
              <Change score={score} value={value} before={before} />
            </p>
            <p class="hint">{score.meaning}</p>
          </li>
        ))}
      </ul>
    </section>
  )
}

const measured = ({ measures }: EvaluationRun, { row, measure }: Score) =>
  measures?.[row]?.[measure]

/** Shares in percent; the others go from 0 to 1, too, but are none. */
const shownScore = ({ measure }: Score, value: number) =>
  /^(?:nDCG|MRR)/.test(measure) ? value.toFixed(2) : `${Math.round(value * 100)} %`

function Change({
  score,
  value,
  before,
}: {
  score: Score
  value: number
  before: number | undefined
}) {
  if (before === undefined) return null
  const gain = score.isLoss ? before - value : value - before
  const tone = gain > 0 ? 'better' : gain < 0 ? 'worse' : ''
  return (
    <span class={`hint ${tone}`}>
      {value === before ? 'as before' : `${shownScore(score, before)} before`}
    </span>
  )
}

function HowToBegin() {
  return (
    <Empty title="Nothing measured yet">
      <p>
        {judged.value.length === 0 ? (
          <>
            Search for something on the page <a href={href('search')}>Search</a>, and mark the right
            documents: each question becomes one of the judged questions below. A dozen tell a lot.
          </>
        ) : (
          'Evaluate the judged questions below.'
        )}
      </p>
    </Empty>
  )
}
