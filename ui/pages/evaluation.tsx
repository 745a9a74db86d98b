import { EvaluationRuns } from '../search/evaluation-runs.tsx'
import { JudgedSet } from '../search/judged-set.tsx'
import { ScoreCards } from '../search/score-cards.tsx'

/** How good search and answers are, measured with questions whose right documents are known. */
export function EvaluationPage() {
  return (
    <>
      <h1>Evaluation</h1>
      <p class="hint">
        Measures search and answers with questions of your own, so that you see what a change of a
        model or a setting brings.
      </p>
      <ScoreCards />
      <EvaluationRuns />
      <JudgedSet />
    </>
  )
}
