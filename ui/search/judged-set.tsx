import { useEffect, useRef } from 'preact/hooks'
import { client, messageOf } from '../api.ts'
import { counted } from '../format.ts'
import { Icon } from '../parts/icon.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { saveFile } from '../parts/save-file.ts'
import { FactsForm, UnansweredForm } from './facts-form.tsx'
import { changeJudged, failure, judged, readJudgedQuestions } from './judged.ts'
import { exported, keptInBrowser, leftInBrowser, take, takeOver } from './judged-files.ts'

/** Questions whose right documents are known. */
export function JudgedSet() {
  useEffect(() => void takeOver().then(readJudgedQuestions), [])
  const attempt = async (work: () => Promise<void>) => {
    failure.value = ''
    try {
      await work()
    } catch (error) {
      failure.value = messageOf(error)
    }
  }
  return (
    <section class="panel stack" aria-labelledby="judged">
      <div class="row spread">
        <h2 id="judged">Judged questions</h2>
        <Files attempt={attempt} />
      </div>
      <p class="hint">
        Mark the hits whose document is right for the question. The server keeps the questions, for
        everyone who operates it; <code>npm run eval</code> reads the export.
      </p>
      <ErrorNote message={failure.value} />
      <LeftInBrowser />
      {judged.value.length > 0 && <Questions attempt={attempt} />}
      <UnansweredForm attempt={attempt} />
    </section>
  )
}

/** Questions of an earlier version that the server did not take. */
function LeftInBrowser() {
  if (leftInBrowser.value === '') return null
  return (
    <ErrorNote
      message={`The questions that were kept in this browser are not on the server yet: ${leftInBrowser.value}`}
    >
      <div class="row">
        <button type="button" onClick={() => void takeOver()}>
          Try again
        </button>
        <button
          type="button"
          onClick={() => saveFile('judged-questions-of-browser.json', keptInBrowser())}
        >
          Save as a file
        </button>
      </div>
    </ErrorNote>
  )
}

type Attempt = (work: () => Promise<void>) => Promise<void>

function Files({ attempt }: { attempt: Attempt }) {
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
          void attempt(() => take(files))
        }}
      />
      <button type="button" class="quiet" onClick={() => input.current?.click()}>
        <Icon name="upload" />
        Import
      </button>
      <button
        type="button"
        class="quiet"
        disabled={judged.value.length === 0}
        onClick={() => saveFile('judged-questions.jsonl', exported())}
      >
        <Icon name="download" />
        Export
      </button>
    </div>
  )
}

function Questions({ attempt }: { attempt: Attempt }) {
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
          <FactsForm question={each} attempt={attempt} />
          <button
            type="button"
            class="quiet"
            onClick={() =>
              void attempt(() => changeJudged(() => client.evaluation.questions.delete(each.id)))
            }
          >
            Remove<span class="visually-hidden"> {each.question}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}
