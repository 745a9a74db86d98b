import { signal } from '@preact/signals'
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'
import { client, messageOf } from '../api.ts'
import { onSignOut } from '../session.ts'
import {
  DEPTH,
  type JudgedQuery,
  type Measures,
  mean,
  measure,
  readJudged,
  TOP_K,
  writeJudged,
} from './evaluation.ts'
import type { Trial } from './search-state.ts'

const KEY = 'agent-server.judged'
const MAX_QUESTIONS = 1_000
const MAX_CHARACTERS = 1_000_000
const QUERIES = 'queries.jsonl'
const QRELS = 'qrels.tsv'

/** Questions with the documents that answer them, in this browser only. */
export const judged = signal<readonly JudgedQuery[]>(readKept())

onSignOut(() => {
  judged.value = []
  localStorage.removeItem(KEY)
})

export const isRight = (question: string, documentId: string): boolean =>
  judged.value.some(({ text, relevant }) => text === question && relevant.has(documentId))

/** What was wrong with the last thing that was tried with the set, in words. */
export const failure = signal('')

/** Says of a document that it answers the question, or no longer; the failure says where the set is full. */
export function toggle(question: string, documentId: string): void {
  failure.value = ''
  try {
    judge(question, (relevant) => {
      if (!relevant.delete(documentId)) relevant.set(documentId, 1)
    })
  } catch (error) {
    failure.value = messageOf(error)
  }
}

/** Says of these documents, too, that they answer the question. Throws an Error, for people, where the set is full. */
export function addJudged(question: string, documentIds: readonly string[]): void {
  judge(question, (relevant) => {
    for (const id of documentIds) if (!relevant.has(id)) relevant.set(id, 1)
  })
}

function judge(question: string, change: (relevant: Map<string, number>) => void): void {
  const known = judged.value.find(({ text }) => text === question)
  const relevant = new Map(known?.relevant)
  change(relevant)
  const others = judged.value.filter((one) => one !== known)
  const changed = { id: known?.id ?? newId(), text: question, relevant }
  keep(relevant.size > 0 ? [...others, changed] : others)
}

/** Throws an Error, for people, and changes nothing then. */
export function keep(all: readonly JudgedQuery[]): void {
  const text = JSON.stringify(writeJudged(all))
  if (all.length > MAX_QUESTIONS || text.length > MAX_CHARACTERS)
    throw new Error(
      `At most ${MAX_QUESTIONS} questions are kept. Export them, then start a new set.`,
    )
  localStorage.setItem(KEY, text)
  judged.value = all
}

function readKept(): readonly JudgedQuery[] {
  try {
    return readJudged(JSON.parse(localStorage.getItem(KEY) ?? '{"queries":"","qrels":""}'))
  } catch {
    localStorage.removeItem(KEY)
    return []
  }
}

function newId(): string {
  return String(Math.max(0, ...judged.value.map(({ id }) => Number(id) || 0)) + 1)
}

/** What `npm run eval` reads. */
export function exported(): Blob {
  const { queries, qrels } = writeJudged(judged.value)
  const files = { [QUERIES]: strToU8(queries), [QRELS]: strToU8(qrels) }
  return new Blob([zipSync(files).slice()])
}

/** Takes an export, or its two files, in place of what is there. Throws an Error, for people. */
export async function take(files: readonly File[]): Promise<void> {
  const texts = new Map<string, string>()
  for (const file of files) {
    if (!file.name.endsWith('.zip')) texts.set(file.name, await file.text())
    else
      for (const [name, bytes] of unzip(new Uint8Array(await file.arrayBuffer())))
        texts.set(name, strFromU8(bytes))
  }
  const queries = texts.get(QUERIES)
  const qrels = texts.get(QRELS)
  if (queries === undefined || qrels === undefined)
    throw new Error(`A judged set is ${QUERIES} and ${QRELS}, or a zip of both.`)
  const all = readJudged({ queries, qrels })
  if (all.length === 0) throw new Error('It contains no judged questions.')
  keep(all)
}

function unzip(bytes: Uint8Array): [string, Uint8Array][] {
  try {
    return Object.entries(
      unzipSync(bytes, { filter: ({ originalSize }) => originalSize <= MAX_CHARACTERS }),
    )
  } catch {
    throw new Error('This is not a zip file.')
  }
}

/** Each question by itself, by its id, as `npm run eval` measures it; the mean of all under an empty id. */
export type Evaluation = ReadonlyMap<string, Measures>

/** Asks every question as the trial is set. Throws what a query throws. */
export async function evaluate(
  trial: Pick<Trial, 'requestOf'>,
  onProgress: (done: number) => void,
  signal: AbortSignal,
): Promise<Evaluation> {
  const measured = new Map<string, Measures>()
  for (const { id, text, relevant } of judged.value) {
    const request = { ...trial.requestOf(text), topK: TOP_K, explain: false }
    const { hits } = await client.query(request, { signal })
    const ranking = [...new Set(hits.map(({ documentId }) => documentId))].slice(0, DEPTH)
    measured.set(id, measure(ranking, { relevant, graded: false }))
    onProgress(measured.size)
  }
  const all = [...measured.values()]
  const meanOf = (name: keyof Measures) => mean(all.map((one) => one[name]))
  return measured.set('', { ndcg: meanOf('ndcg'), recall: meanOf('recall'), mrr: meanOf('mrr') })
}
