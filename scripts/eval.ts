import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import {
  answersRow,
  compareReports,
  evaluateAnswers,
  evaluateSearch,
  type Report,
  searchRow,
} from '@agent-server/evaluation'
import { SearchMode } from '@agent-server/schemas/query.ts'
import { AgentServer } from '../packages/client/src/agent-server.ts'
import { createAsking } from './eval/asking.ts'
import { CORPUS, isQuestions } from './eval/collection.ts'
import { readCollection } from './eval/formats.ts'
import { ingestCollection } from './eval/ingest.ts'
import { judgeAt } from './eval/judge-model.ts'
import { startLocalServer } from './eval/local-server.ts'
import { misspell } from './eval/misspell.ts'
import { readReport, saveReport } from './eval/report.ts'

const USAGE = `Usage: npm run eval -- <folder or questions.jsonl> [options]

Ingests the collection through the HTTP API, asks its judged questions, and prints the quality of the answers.
Without --url, starts a server with its own data directory for the run.

  --format NAME      beir (default), xquad:de, tau-knowledge, finance-bench, mtrag:cloud: see docs/guides/evaluation.md
  --mode MODE        lexical, dense or hybrid; repeatable, to compare; default: the server's default
  --graded           use graded relevance; otherwise each relevant document counts the same
  --misspelt         ask the questions with typing errors, the same in each run
  --answers          ask the agent the questions that have facts, and measure its answers and citations
  --judge-model NAME model that judges the answers; otherwise an answer must contain the fact
  --judge-url URL    its OpenAI-compatible server, up to /v1; --judge-key KEY if it needs one
  --save FILE        write the result; --compare FILE prints it beside an earlier one, with the differing questions
  --url URL          a running server; the collection's documents stay in it. Without corpus.jsonl its own are judged,
                     as by judged questions that the server exports as a file of lines
  --key KEY          its SERVER_API_KEY
  --json             print JSON only`

const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    format: { ...text, default: 'beir' },
    mode: { ...text, multiple: true },
    graded: flag,
    misspelt: flag,
    answers: flag,
    'judge-model': text,
    'judge-url': text,
    'judge-key': text,
    save: text,
    compare: text,
    url: text,
    key: text,
    json: flag,
    help: flag,
  },
})
const [folder] = positionals

if (values.help || folder === undefined) {
  process.stdout.write(`${USAGE}\n`)
  process.exit(values.help ? 0 : 2)
}

const ofBeir = ['queries.jsonl', ...(values.url === undefined ? [CORPUS] : [])]
const needed = values.format === 'beir' && !isQuestions(folder) ? ofBeir : ['.']
if (isQuestions(folder) && values.url === undefined) {
  process.stderr.write('Judged questions need --url of the server that has their documents\n')
  process.exit(2)
}
for (const name of needed) {
  if (existsSync(join(folder, name))) continue
  process.stderr.write(`${join(folder, name)} is not there\n`)
  process.exit(2)
}

const modes = values.mode?.map((mode) => SearchMode.parse(mode)) ?? [undefined]
const model = values['judge-model']
const judge =
  model === undefined
    ? undefined
    : judgeAt({ model, url: values['judge-url'] ?? '', key: values['judge-key'] ?? '' })
const earlier = values.compare === undefined ? undefined : await readReport(values.compare)
const read = await readCollection(resolve(folder), values.format)
const collection = values.misspelt ? misspell(read) : read
const directory = await mkdtemp(join(tmpdir(), 'agent-server-eval-'))
const local = values.url === undefined ? await startLocalServer(directory) : undefined
try {
  const client = new AgentServer({
    baseURL: values.url ?? local?.url ?? '',
    apiKey: values.key ?? local?.key ?? '',
    // A full queue is waited for, however large the collection is.
    maxRetries: 10_000,
  })
  const tell = (done: string) => {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${done}`)
  }
  const progress = (done: number, of: number) => tell(`${done} of ${of} questions asked`)
  const { ids, failed } = await ingestCollection(collection, client, tell)
  const asking = createAsking({ client, ids })
  const report: Report = {}
  for (const mode of values.answers ? [] : modes) {
    const options = { ask: asking.search(mode), graded: values.graded, progress }
    const measured = await evaluateSearch(collection.questions, options)
    const { asked, ...result } = measured
    report[mode ?? 'default'] = searchRow(measured)
    print({ documents: ids.size, failed, ...(mode && { mode }), ...result })
  }
  if (values.answers) {
    const options = { ask: asking.answer, judge, progress }
    const measured = await evaluateAnswers(collection.questions, options)
    const { asked, ...result } = measured
    report.answers = answersRow(measured)
    print({ documents: ids.size, failed, ...result })
  }
  if (!values.json) printTables(report)
  if (values.save !== undefined) await saveReport(values.save, report)
} finally {
  await local?.stop()
  await rm(directory, { recursive: true, force: true })
}

function print(result: object): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
  console.log(JSON.stringify(result))
}

function printTables(report: Report): void {
  const measures = new Set(Object.values(report).flatMap((one) => Object.keys(one.measures)))
  const rows = Array.from(measures, (measure) => {
    const columns = Object.entries(report).map(([name, one]) => [name, one.measures[measure] ?? 0])
    return [measure, rounded(Object.fromEntries(columns))]
  })
  console.table(Object.fromEntries(rows))
  for (const { name, measures: compared, tests, questions } of earlier
    ? compareReports(earlier, report)
    : []) {
    console.log(`Compared with ${values.compare}: ${name}`)
    const changes = Object.entries(compared).map(([measure, each]) => [
      measure,
      rounded({ ...each }),
    ])
    console.table(Object.fromEntries(changes))
    for (const [value, { difference, significant, questions: count }] of Object.entries(tests)) {
      const conclusion = significant ? `differs by ${round(difference)}` : 'no difference'
      console.log(`${value} of ${count} questions: ${conclusion} (paired test at 5 %)`)
    }
    for (const { id, text: question, differs } of questions) {
      const values = Object.entries(differs).map(([value, { before, now }]) => {
        return `${value} ${round(before)} → ${round(now)}`
      })
      console.log(`${id}  ${values.join(', ')}  ${question.slice(0, 100)}`)
    }
  }
}

function round(number: number): number {
  return Number(number.toFixed(4))
}

function rounded(measures: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(measures).map(([name, value]) => [name, round(value)]))
}
