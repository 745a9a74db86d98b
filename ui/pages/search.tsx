import { useEffect } from 'preact/hooks'
import { refreshCollections } from '../collections/collections.ts'
import { Field } from '../parts/controls.tsx'
import { FilterField, TopKField } from '../parts/filter-field.tsx'
import { EvaluationRuns } from '../search/evaluation-runs.tsx'
import { Results, SearchForm } from '../search/hits.tsx'
import { JudgedSet } from '../search/judged-set.tsx'
import { MODES, runSearch, search, type Trial } from '../search/search-state.ts'
import { may } from '../session.ts'

/** What `/query` finds, with the score of each stage; by two settings side by side where that is wanted. */
export function SearchPage() {
  const [first, second] = search.trials
  const isComparing = search.isComparing.value
  useEffect(() => void refreshCollections(), [])
  return (
    <>
      <div class="page-head">
        <h1>Search</h1>
        <label class="check">
          <input
            type="checkbox"
            checked={isComparing}
            onChange={({ currentTarget }) => {
              search.isComparing.value = currentTarget.checked
              void runSearch()
            }}
          />
          Compare two settings
        </label>
      </div>
      <p class="hint">Shows exactly what /query returns, which is also what chat cites.</p>
      <SearchForm onSubmit={() => void runSearch()} />
      <div class={isComparing ? 'columns compared' : 'stack'}>
        <section class="stack" aria-label={isComparing ? 'First setting' : 'Results'}>
          <Settings trial={first} />
          <Results trial={first} others={isComparing ? second : undefined} />
        </section>
        {isComparing && (
          <section class="stack" aria-label="Second setting">
            <Settings trial={second} />
            <Results trial={second} others={first} />
          </section>
        )}
      </div>
      {may('admin') && <JudgedSet />}
      {may('admin') && <EvaluationRuns />}
    </>
  )
}

function Settings({ trial }: { trial: Trial }) {
  return (
    <details class="settings" open={search.isComparing.value}>
      <summary>Settings</summary>
      <div class="settings-fields asked">
        <div class="stack">
          <TopKField value={trial.topK} />
          <Field label="Mode">
            <select
              value={trial.mode.value}
              onChange={({ currentTarget }) =>
                (trial.mode.value = MODES.find((mode) => mode === currentTarget.value) ?? '')
              }
            >
              <option value="">default</option>
              {MODES.map((mode) => (
                <option key={mode}>{mode}</option>
              ))}
            </select>
          </Field>
        </div>
        <FilterField text={trial.filter} />
      </div>
    </details>
  )
}
