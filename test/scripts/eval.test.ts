import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { onlyLong } from '../support/long.ts'

const run = promisify(execFile)
const SCRIPT = resolve(import.meta.dirname, '../../scripts/eval.ts')

/** Two documents, a query that each answers, and one that is not judged. */
async function makeCollection(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-eval-test-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const lines = (entries: object[]) => entries.map((entry) => JSON.stringify(entry)).join('\n')
  const documents = [
    { _id: 'a', title: 'Opening hours', text: 'The library opens at nine.' },
    { _id: 'b', title: 'Bicycles', text: 'Bicycles are parked behind the house.' },
  ]
  const queries = [
    { _id: '1', text: 'When does the library open?' },
    { _id: '2', text: 'Where do I park my bicycle?' },
    { _id: '3', text: 'Nobody judged this.' },
  ]
  await mkdir(join(folder, 'qrels'))
  await writeFile(join(folder, 'corpus.jsonl'), lines(documents))
  await writeFile(join(folder, 'queries.jsonl'), lines(queries))
  await writeFile(
    join(folder, 'qrels', 'test.tsv'),
    'query-id\tcorpus-id\tscore\n1\ta\t1\n2\tb\t2\n',
  )
  return folder
}

it('npm run eval judges a collection through a server of its own', onlyLong, async () => {
  const { stdout } = await run(process.execPath, [SCRIPT, await makeCollection(), '--json'])
  expect(JSON.parse(stdout)).toMatchObject({
    documents: 2,
    failed: 0,
    queries: 2,
    degraded: 0,
    ndcg: 1,
    recall: 1,
    mrr: 1,
    latency: { p50: expect.any(Number), p95: expect.any(Number) },
  })
})

it('npm run eval without a folder says how it is used', async () => {
  await expect(run(process.execPath, [SCRIPT])).rejects.toMatchObject({
    code: 2,
    stdout: expect.stringContaining('npm run eval --'),
  })
})

it('npm run eval ends where its server cannot start, and says why', async () => {
  const env = { ...process.env, CHAT_MODEL: 'named', CHAT_API_KEY: '' }
  const ended = run(process.execPath, [SCRIPT, await makeCollection(), '--json'], { env })
  await expect(ended).rejects.toMatchObject({
    stderr: expect.stringMatching(/CHAT_API_KEY is required[\s\S]*The server did not start/),
  })
})
