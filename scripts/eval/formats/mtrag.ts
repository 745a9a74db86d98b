import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { readJudged } from '../../../ui/search/beir.ts'
import type { Collection, Entry } from '../collection.ts'

const Passage = z.object({ _id: z.string(), title: z.string().optional(), text: z.string() })

/**
 * MTRAG, https://github.com/IBM/mt-rag-benchmark: the questions of conversations find the passages that answer them.
 * `mtrag:cloud` is one of its domains with each question rewritten to stand alone, `mtrag:cloud-lastturn` with it as it
 * was asked. Its corpus, `corpora/passage_level/cloud.jsonl`, is to be unzipped first.
 */
export async function readMtrag(folder: string, choice: string): Promise<Collection> {
  const [domain = '', wording = 'rewrite'] = (choice || 'cloud').split('-')
  const tasks = join(folder, 'mtrag-human', 'retrieval_tasks', domain)
  const judged = readJudged({
    queries: await readFile(join(tasks, `${domain}_${wording}.jsonl`), 'utf8'),
    qrels: await readFile(join(tasks, 'qrels', 'dev.tsv'), 'utf8'),
  })
  return {
    documents: () => readPassages(join(folder, 'corpora', 'passage_level', `${domain}.jsonl`)),
    questions: judged.map(({ text, ...query }) => {
      return { ...query, text: text.replace(/^\|user\|: /, '') }
    }),
  }
}

async function* readPassages(file: string): AsyncGenerator<Entry> {
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (line.trim() !== '') yield Passage.parse(JSON.parse(line))
  }
}
