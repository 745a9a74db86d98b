import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { SearchMode } from '../src/schemas/query.ts'
import { CORPUS } from './eval/collection.ts'
import { type Evaluation, evaluate } from './eval/evaluate.ts'
import { startLocalServer } from './eval/local-server.ts'

const USAGE = `Usage: npm run eval -- <folder in BEIR layout> [options]

Ingests the collection through the HTTP API, asks its judged queries, and prints how good the answers are.
Without --url a server with a directory of its own is started for it and ended after it.

  --url URL   a running server; the collection's documents stay in it. Without corpus.jsonl its own are judged,
              as in a set that the web UI's search page exports
  --key KEY   its SERVER_API_KEY
  --mode MODE lexical, dense or hybrid; by default what the server does by default
  --graded    count relevance as it was graded; otherwise each relevant document counts the same
  --json      print JSON only`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    url: { type: 'string' },
    key: { type: 'string' },
    mode: { type: 'string' },
    graded: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const [folder] = positionals

if (values.help || folder === undefined) {
  process.stdout.write(`${USAGE}\n`)
  process.exit(values.help ? 0 : 2)
}

const needed = ['queries.jsonl', ...(values.url === undefined ? [CORPUS] : [])]
for (const name of needed) {
  if (existsSync(join(folder, name))) continue
  process.stderr.write(`${join(folder, name)} is not there\n`)
  process.exit(2)
}

const directory = await mkdtemp(join(tmpdir(), 'agent-server-eval-'))
const local = values.url === undefined ? await startLocalServer(directory) : undefined
try {
  const result = await evaluate({
    folder: resolve(folder),
    url: values.url ?? local?.url ?? '',
    key: values.key ?? local?.key ?? '',
    mode: values.mode === undefined ? undefined : SearchMode.parse(values.mode),
    graded: values.graded,
    progress: (done) => {
      if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${done}`)
    },
  })
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
  if (!values.json) console.table(toTable(result))
  console.log(JSON.stringify(result))
} finally {
  await local?.stop()
  await rm(directory, { recursive: true, force: true })
}

function toTable({ documents, failed, queries, ndcg, recall, mrr, latency }: Evaluation) {
  const round = (number: number) => Number(number.toFixed(4))
  return {
    documents,
    failed,
    queries,
    'nDCG@10': round(ndcg),
    'recall@10': round(recall),
    'MRR@10': round(mrr),
    'p50 ms': round(latency.p50),
    'p95 ms': round(latency.p95),
  }
}
