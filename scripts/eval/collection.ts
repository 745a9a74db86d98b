import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'

/** A document or query of a judged collection in BEIR layout: https://github.com/beir-cellar/beir. */
const Entry = z.object({
  _id: z.coerce.string(),
  title: z.string().optional(),
  text: z.string(),
})

export type Entry = z.output<typeof Entry>

export interface Query {
  id: string
  text: string
  /** Relevance by document id, above 0. */
  relevant: Map<string, number>
}

/** The documents of `corpus.jsonl`, one at a time; those without any text are left out. */
export async function* readCorpus(folder: string): AsyncGenerator<Entry> {
  for await (const entry of readLines(join(folder, 'corpus.jsonl'))) {
    if (`${entry.title ?? ''}${entry.text}`.trim() !== '') yield entry
  }
}

/** The judged queries: `queries.jsonl` with `qrels.tsv`, or `qrels/test.tsv` as BEIR itself has it. */
export async function readQueries(folder: string): Promise<Query[]> {
  const judged = await readJudgements(folder)
  const queries: Query[] = []
  for await (const { _id, text } of readLines(join(folder, 'queries.jsonl'))) {
    const relevant = judged.get(_id)
    if (relevant) queries.push({ id: _id, text, relevant })
  }
  if (queries.length === 0) throw new Error(`${folder} holds no judged query`)
  return queries
}

async function* readLines(file: string): AsyncGenerator<Entry> {
  for await (const line of createInterface({
    input: createReadStream(file),
    crlfDelay: Infinity,
  })) {
    if (line.trim() !== '') yield Entry.parse(JSON.parse(line))
  }
}

async function readJudgements(folder: string): Promise<Map<string, Map<string, number>>> {
  const text = await readFile(join(folder, 'qrels.tsv'), 'utf8').catch(() =>
    readFile(join(folder, 'qrels', 'test.tsv'), 'utf8'),
  )
  const judged = new Map<string, Map<string, number>>()
  for (const line of text.split('\n').slice(1)) {
    const [query = '', document = '', score = '0'] = line.trim().split('\t')
    if (Number(score) <= 0) continue
    const relevant = judged.get(query) ?? new Map<string, number>()
    judged.set(query, relevant.set(document, Number(score)))
  }
  return judged
}
