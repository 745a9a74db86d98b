import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Hit } from '../../packages/client/src/agent-server.ts'
import { ChosenCollection } from '../collections/collection-chooser.tsx'
import { formatSeconds } from '../format.ts'
import { ChunkFacts, ChunkText } from '../parts/chunk-facts.tsx'
import { Button, bound, Form } from '../parts/controls.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Empty, ErrorNote } from '../parts/notes.tsx'
import { codeOf, curlOf } from '../parts/request-code.ts'
import { ReaderDialog } from '../reader/reader.tsx'
import { renderText } from '../reader/rendered-text.ts'
import { documentAddress, href } from '../route.ts'
import { may } from '../session.ts'
import { excerptAround, sentenceFor } from './hit-sentence.ts'
import { isRight, toggle } from './judged.ts'
import { search, type Trial } from './search-state.ts'

/** What one setting found. With `others` each hit tells its place there. */
export function Results({ trial, others }: { trial: Trial; others?: Trial | undefined }) {
  const opened = useSignal<Hit | undefined>(undefined)
  const response = trial.result.value
  const corrected = response?.corrections?.map((each) => each.corrected) ?? []
  const meant = [response?.query, ...corrected].join(' ')
  return (
    <div class="stack results">
      <ErrorNote message={trial.failure.value} />
      {response && (
        <>
          <div class="row spread">
            <p class="hint">
              {response.hits.length} found in {formatSeconds(trial.milliseconds.value)}
              {response.corrections?.map(
                ({ typed, corrected }) => `; searched for “${corrected}” instead of “${typed}”`,
              )}
              {response.degraded && '; a model used by search did not respond'}
            </p>
            <div class="row tight">
              <CopyButton
                label="Copy as curl"
                text={() => curlOf('/query', trial.requestOf(response.query))}
              />
              <CopyButton
                label="Copy as code"
                icon="code"
                text={() => codeOf('query', trial.requestOf(response.query))}
              />
            </div>
          </div>
          {response.hits.length === 0 && (
            <Empty title="Nothing found">
              <p>
                Try other words, or check whether the <a href={href('documents')}>documents</a> are
                ready.
              </p>
            </Empty>
          )}
          <ol class="hits">
            {response.hits.map((hit, index) => (
              <HitCard
                key={hit.id}
                hit={hit}
                query={response.query}
                meant={meant}
                place={index + 1}
                otherPlace={others?.result.value && rankIn(others.result.value.hits, hit)}
                onOpen={() => (opened.value = hit)}
              />
            ))}
          </ol>
        </>
      )}
      {opened.value && (
        <ReaderDialog
          hit={opened.value}
          quotes={quotesOf(opened.value, meant)}
          onClose={() => (opened.value = undefined)}
        />
      )}
    </div>
  )
}

/** The sentence of the hit, as a citation would quote it. */
function quotesOf({ text, start }: Hit, query: string) {
  const sentence = sentenceFor(query, text)
  if (!sentence) return []
  const quoted = text.slice(sentence.start, sentence.end)
  return [{ text: quoted, start: start + sentence.start, end: start + sentence.end }]
}

/** From 1; 0 where it is not among them. */
function rankIn(hits: readonly Hit[], { id }: Hit): number {
  return hits.findIndex((one) => one.id === id) + 1
}

function HitCard({
  hit,
  query,
  meant,
  place,
  otherPlace,
  onOpen,
}: {
  hit: Hit
  query: string
  /** With the words that typing errors were taken for. */
  meant: string
  place: number
  otherPlace: number | undefined
  onOpen: () => void
}) {
  return (
    <li class="panel hit">
      <div class="row spread">
        <h2>
          <span class="place">{place}</span>{' '}
          <a href={documentAddress(hit.documentId, hit)}>{hit.title || hit.documentId}</a>
        </h2>
        <span class="score" title="Relevance, from 0 to 1">
          {hit.score.toFixed(3)}
        </span>
      </div>
      {otherPlace !== undefined && <p class="hint">{comparison(place, otherPlace)}</p>}
      <ChunkFacts chunk={hit} />
      <HitText hit={hit} query={meant} />
      <div class="row spread">
        <Stages stages={hit.stages} />
        <div class="row tight">
          {may('admin') && (
            <Button
              icon="right"
              about={`at hit ${place}`}
              class="quiet toggle"
              aria-pressed={isRight(query, hit.documentId)}
              onClick={() => void toggle(query, hit.documentId)}
            >
              Right document
            </Button>
          )}
          <Button icon="context" about={`of hit ${place}`} class="quiet" onClick={onOpen}>
            In context
          </Button>
        </div>
      </div>
    </li>
  )
}

/** The passage around the sentence that has most of what was searched for, which is marked. */
function HitText({ hit, query }: { hit: Hit; query: string }) {
  const place = useRef<HTMLDivElement>(null)
  const sentence = sentenceFor(query, hit.text)
  useLayoutEffect(() => {
    if (!sentence) return
    const { text, mark } = excerptAround(hit.text, sentence)
    place.current?.replaceChildren(renderText(text, [mark], 'markdown'))
  }, [hit, query])
  if (!sentence) return <ChunkText text={hit.text} isExcerpt />
  return <div ref={place} class="answer hit-text" dir="auto" />
}

function comparison(place: number, otherPlace: number): string {
  if (otherPlace === 0) return 'Only in this setting'
  return otherPlace === place
    ? 'Same rank in the other setting'
    : `Rank ${otherPlace} in the other setting`
}

const STAGES = [
  ['lexical', 'Lexical'],
  ['dense', 'Vectors'],
  ['rerank', 'Reranked'],
] as const

/** The score of a hit in each stage of the search. */
export function Stages({ stages = {} }: { stages: Hit['stages'] }) {
  return (
    <dl class="stages">
      {STAGES.map(([key, name]) => {
        const score = stages[key]
        return (
          score !== undefined && (
            <div key={key}>
              <dt>{name}</dt>
              <dd>{score.toFixed(3)}</dd>
            </div>
          )
        )
      })}
    </dl>
  )
}

export function SearchForm({ onSubmit }: { onSubmit: () => void }) {
  return (
    <Form class="search-form" onSubmit={onSubmit}>
      <label class="visually-hidden" for="question">
        Question
      </label>
      <input
        id="question"
        type="search"
        required
        maxLength={10_000}
        placeholder="A question or keywords"
        {...bound(search.query)}
      />
      <ChosenCollection />
      <Button icon="search" type="submit" class="primary" disabled={search.isBusy.value}>
        {search.isBusy.value ? 'Searching' : 'Search'}
      </Button>
    </Form>
  )
}
