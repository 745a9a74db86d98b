import { useEffect } from 'preact/hooks'
import { refreshCollections } from '../collections/collections.ts'
import { counted } from '../format.ts'
import { FilterField, TopKField } from '../parts/filter-field.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { href } from '../route.ts'
import { Results, SearchForm } from '../search/hits.tsx'
import { failure, judged } from '../search/judged.ts'
import { readWholeSet } from '../search/judged-files.ts'
import { ModeField } from '../search/mode-field.tsx'
import { runSearch, search, type Trial } from '../search/search-state.ts'
import { may } from '../session.ts'

/** What `/query` finds, with the score of each stage; by two settings side by side where that is wanted. */
export function SearchPage() {
  const [first, second] = search.trials
  const isComparing = search.isComparing.value
  useEffect(() => {
    void refreshCollections()
    if (may('admin')) void readWholeSet()
  }, [])
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
      {may('admin') && <Judging />}
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
    </>
  )
}

/** What becomes of the hits that are marked as right. */
function Judging() {
  return (
    <>
      <p class="hint">
        Mark the hits whose document is right: the question becomes one of the{' '}
        <a href={href('evaluation')}>
          {judged.value.length === 0
            ? 'judged questions'
            : counted(judged.value.length, 'judged question')}
        </a>
        .
      </p>
      <ErrorNote message={failure.value} />
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
          <ModeField mode={trial.mode} />
        </div>
        <FilterField text={trial.filter} />
      </div>
    </details>
  )
}
