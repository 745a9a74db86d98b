import { createReadStream, existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { type JudgedQuery, readJudged } from '../../ui/search/evaluation.ts'

/** A document of a judged collection in BEIR layout: https://github.com/beir-cellar/beir. */
const Entry = z.object({
  _id: z.coerce.string(),
  title: z.string().optional(),
  text: z.string(),
})

export type Entry = z.output<typeof Entry>

/** The documents of a collection; absent in a judged set of documents that a server already has. */
export const CORPUS = 'corpus.jsonl'

/** Reads documents one at a time; those without any text are skipped. */
export async function* readCorpus(folder: string): AsyncGenerator<Entry> {
  if (!existsSync(join(folder, CORPUS))) return
  for await (const entry of readLines(join(folder, CORPUS))) {
    if (`${entry.title ?? ''}${entry.text}`.trim() !== '') yield entry
  }
}

/** Reads `queries.jsonl` with `qrels.tsv`, or `qrels/test.tsv` as in BEIR itself. Throws if no query is judged. */
export async function readQueries(folder: string): Promise<JudgedQuery[]> {
  const qrels = await readFile(join(folder, 'qrels.tsv'), 'utf8').catch(() =>
    readFile(join(folder, 'qrels', 'test.tsv'), 'utf8'),
  )
  const queries = readJudged({
    queries: await readFile(join(folder, 'queries.jsonl'), 'utf8'),
    qrels,
  })
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
