import { createReadStream, existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type AskedQuestion, JudgedLine, toAskedQuestion } from '@agent-server/evaluation'
import { z } from 'zod'
import { readJudged } from '../../ui/search/beir.ts'

/** A document of a collection. */
export interface Entry {
  _id: string
  title?: string | undefined
  text: string
}

export interface EntryFile {
  _id: string
  path: string
}

/** Documents and questions, whatever they are read from. */
export interface Collection {
  documents(): AsyncIterable<Entry | EntryFile> | Iterable<Entry | EntryFile>
  questions: readonly AskedQuestion[]
}

/** The documents of a collection; absent in a judged set of documents that a server already has. */
export const CORPUS = 'corpus.jsonl'
const QUERIES = 'queries.jsonl'

const Line = z.object({ _id: z.coerce.string(), title: z.string().optional(), text: z.string() })
const QueryLine = z.object({
  _id: z.coerce.string(),
  text: z.string(),
  kind: z.string().optional(),
  facts: z.array(z.string().min(1)).optional(),
})

/**
 * Reads a folder in BEIR layout: https://github.com/beir-cellar/beir. A query may also have a `kind` and `facts`. Throws
 * if no query is judged.
 */
export async function readBeir(folder: string): Promise<Collection> {
  const questions = await readQueries(folder)
  if (questions.length === 0) throw new Error(`${folder} holds no judged query`)
  return { documents: () => readCorpus(folder), questions }
}

export const isQuestions = (path: string): boolean => path.endsWith('.jsonl')

/** Reads judged questions as a server exports them, one per line; their documents are on a server already. */
export async function readQuestionFile(file: string): Promise<Collection> {
  const lines = readLines(await readFile(file, 'utf8'))
  const questions = lines.map((line, place) => {
    const { id = `${place + 1}`, ...question } = JudgedLine.parse(line)
    return toAskedQuestion(question, id)
  })
  return { documents: () => [], questions }
}

/** Reads documents one at a time; those without any text are skipped. */
export async function* readCorpus(folder: string): AsyncGenerator<Entry> {
  if (!existsSync(join(folder, CORPUS))) return
  const input = createReadStream(join(folder, CORPUS))
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    if (line.trim() === '') continue
    const entry = Line.parse(JSON.parse(line))
    if (`${entry.title ?? ''}${entry.text}`.trim() !== '') yield entry
  }
}

/** Reads `queries.jsonl` with `qrels.tsv`, or `qrels/test.tsv` as in BEIR itself. */
export async function readQueries(folder: string): Promise<AskedQuestion[]> {
  const qrels = await readFile(join(folder, 'qrels.tsv'), 'utf8').catch(() =>
    readFile(join(folder, 'qrels', 'test.tsv'), 'utf8'),
  )
  const queries = await readFile(join(folder, QUERIES), 'utf8')
  const judged = new Map(readJudged({ queries, qrels }).map((one) => [one.id, one.relevant]))
  return readLines(queries).flatMap((line) => {
    const { _id: id, text, kind, facts } = QueryLine.parse(line)
    const relevant = judged.get(id) ?? new Map<string, number>()
    return relevant.size > 0 || facts ? [{ id, text, relevant, kind, facts }] : []
  })
}

export function readLines(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): unknown => JSON.parse(line))
}
