import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { client, messageOf } from '../api.ts'
import { counted } from '../format.ts'
import { Icon } from '../parts/icon.tsx'
import { ErrorNote, Status } from '../parts/notes.tsx'
import { saveFile } from '../parts/save-file.ts'
import {
  changeJudged,
  type Evaluation,
  evaluate,
  failure,
  judged,
  readJudgedQuestions,
} from './judged.ts'
import { exported, keptInBrowser, leftInBrowser, take, takeOver } from './judged-files.ts'
import { search, type Trial } from './search-state.ts'

interface Measured {
  name: string
  evaluation: Evaluation
}

/** Measures settings by questions whose right documents are known. */
export function JudgedSet() {
  const done = useSignal<number | undefined>(undefined)
  const measured = useSignal<readonly Measured[]>([])
  const left = useRef(new AbortController())
  useEffect(() => {
    void takeOver().then(readJudgedQuestions)
    return () => left.current.abort()
  }, [])
  const attempt = async (work: () => void | Promise<void>) => {
    failure.value = ''
    try {
      await work()
    } catch (error) {
      failure.value = messageOf(error)
    }
    done.value = undefined
  }
  const measure = async () => {
    const [first, second] = search.trials
    const asked: [string, Trial][] = search.isComparing.value
      ? [
          ['First', first],
          ['Second', second],
        ]
      : [['Value', first]]
    measured.value = []
    for (const [name, trial] of asked) {
      const onProgress = (count: number) => {
        done.value = count
      }
      const evaluation = await evaluate(trial, onProgress, left.current.signal)
      measured.value = [...measured.value, { name, evaluation }]
    }
  }
  const count = judged.value.length
  return (
    <section class="panel stack" aria-labelledby="judged">
      <div class="row spread">
        <h2 id="judged">Judged questions</h2>
        <Files attempt={attempt} />
      </div>
      <p class="hint">
        Mark the hits whose document is right for the question, and measure settings by them. The
        server keeps the questions, for everyone who operates it; <code>npm run eval</code> reads
        the export.
      </p>
      <ErrorNote message={failure.value} />
      <LeftInBrowser />
      {count > 0 && (
        <div class="row">
          <button
            type="button"
            class="primary"
            disabled={done.value !== undefined}
            onClick={() => {
              done.value = 0
              void attempt(measure)
            }}
          >
            Evaluate {counted(count, 'question')}
          </button>
          {done.value !== undefined && (
            <Status tone="busy">
              {done.value} of {count} asked
            </Status>
          )}
        </div>
      )}
      {measured.value.length > 0 && <Totals measured={measured.value} />}
      {count > 0 && <Questions measured={measured.value} attempt={attempt} />}
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

type Attempt = (work: () => void | Promise<void>) => Promise<void>

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

const MEASURES = [
  ['nDCG@10', 'ndcg'],
  ['Recall@10', 'recall'],
  ['MRR@10', 'mrr'],
] as const

function Totals({ measured }: { measured: readonly Measured[] }) {
  return (
    <table class="figures">
      <thead>
        <tr>
          <th scope="col">Mean</th>
          {measured.map(({ name }) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {MEASURES.map(([name, key]) => (
          <tr key={key}>
            <th scope="row">{name}</th>
            {measured.map((one) => (
              <td key={one.name}>{one.evaluation.get('')?.[key].toFixed(4)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Questions({ measured, attempt }: { measured: readonly Measured[]; attempt: Attempt }) {
  return (
    <ul class="judged">
      {judged.value.map((query) => (
        <li key={query.id} class="row spread">
          <span class="grow">{query.question}</span>
          <span class="hint">
            {[
              counted(query.relevant.length, 'document'),
              ...measured.map(({ evaluation }) => evaluation.get(query.id)?.ndcg.toFixed(2)),
            ]
              .filter(Boolean)
              .join(' · ')}
          </span>
          <button
            type="button"
            class="quiet"
            onClick={() =>
              void attempt(() => changeJudged(() => client.evaluation.questions.delete(query.id)))
            }
          >
            Remove<span class="visually-hidden"> {query.question}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}
