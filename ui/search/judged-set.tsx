import { useEffect, useRef } from 'preact/hooks'
import { attempt, client } from '../api.ts'
import { counted } from '../format.ts'
import { Button } from '../parts/controls.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { saveFile } from '../parts/save-file.ts'
import { href } from '../route.ts'
import { FactsForm, UnansweredForm } from './facts-form.tsx'
import { changeJudged, failure, judged } from './judged.ts'
import {
  exported,
  readWholeSet,
  storedInBrowser,
  take,
  takeOver,
  unsentQuestions,
} from './judged-files.ts'

/** Questions whose right documents are known. */
export function JudgedSet() {
  useEffect(() => void readWholeSet(), [])
  return (
    <section class="panel stack" aria-labelledby="judged">
      <div class="row spread">
        <h2 id="judged">Judged questions</h2>
        <Files />
      </div>
      <p class="hint">
        Mark right documents on the page <a href={href('search')}>Search</a> or in the chat. Whoever
        operates the server sees the same questions; <code>npm run eval</code> reads the export.
      </p>
      <ErrorNote message={failure.value} />
      <LeftInBrowser />
      {judged.value.length > 0 && <Questions />}
      <UnansweredForm />
    </section>
  )
}

/** Questions of an earlier version that the server did not take. */
function LeftInBrowser() {
  if (unsentQuestions.value === '') return null
  return (
    <ErrorNote
      message={`The questions that were kept in this browser are not on the server yet: ${unsentQuestions.value}`}
    >
      <div class="row">
        <Button icon="retry" onClick={() => void takeOver()}>
          Retry
        </Button>
        <Button
          icon="download"
          onClick={() => saveFile('judged-questions-of-browser.json', storedInBrowser())}
        >
          Save as a file
        </Button>
      </div>
    </ErrorNote>
  )
}

function Files() {
  const input = useRef<HTMLInputElement>(null)
  return (
    <div class="row tight">
      <input
        ref={input}
        type="file"
        hidden
        multiple
        accept=".zip,.jsonl,.tsv"
        aria-label="Judged questions"
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])]
          currentTarget.value = ''
          void attempt(failure, () => take(files))
        }}
      />
      <Button icon="upload" class="quiet" onClick={() => input.current?.click()}>
        Import
      </Button>
      <Button
        icon="download"
        class="quiet"
        disabled={judged.value.length === 0}
        onClick={() => saveFile('judged-questions.jsonl', exported())}
      >
        Export
      </Button>
    </div>
  )
}

function Questions() {
  return (
    <ul class="judged">
      {judged.value.map((each) => (
        <li key={each.id} class="row spread">
          <span class="grow">{each.question}</span>
          <span class="hint">
            {each.relevant.length > 0
              ? counted(each.relevant.length, 'document')
              : each.facts?.length === 0 && 'No document has the answer'}
          </span>
          <FactsForm question={each} />
          <Button
            icon="delete"
            about={each.question}
            class="quiet danger"
            onClick={() =>
              void attempt(failure, () =>
                changeJudged(() => client.evaluation.questions.delete(each.id)),
              )
            }
          >
            Remove
          </Button>
        </li>
      ))}
    </ul>
  )
}
