import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'

const run = promisify(execFile)
const SCRIPT = resolve(import.meta.dirname, '../../scripts/eval-citations.ts')

it('scripts/eval-citations.ts makes true and false statements of questions, and judges them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-eval-citations-test-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'squad.json')
  const context = 'The reading room of the library opens at 9 in the morning, and has forty chairs.'
  const other = 'Dogs wait outside at the fountain.'
  const qas = [
    {
      question: 'When does the reading room of the library open?',
      answers: [{ text: 'at 9 in the morning' }],
    },
  ]
  const paragraphs = [
    { context, qas },
    { context: other, qas: [] },
  ]
  await writeFile(file, JSON.stringify({ data: [{ title: 'Library_rules', paragraphs }] }))
  const { stdout } = await run(process.execPath, [SCRIPT, file])
  const rows = stdout.split('\n').filter((line) => line.includes("'"))
  const cells = rows.map((row) => row.split('│').map((cell) => cell.trim().replaceAll("'", '')))
  expect(cells.map(([, , kind, pairs, supported]) => [kind, pairs, supported])).toEqual([
    ['true', '1', '1.000'],
    ['passage', '1', '0.000'],
    ['number', '1', '0.000'],
  ])
})
