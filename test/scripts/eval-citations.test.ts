import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'

const run = promisify(execFile)
const SCRIPT = resolve(import.meta.dirname, '../../scripts/eval-citations.ts')

it('scripts/eval-citations.ts tells names from nouns by the same texts in another language', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-server-eval-citations-test-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const fileOf = async (name: string, texts: { context: string; question: string }[]) => {
    const data = texts.map(({ context, question }) => {
      const qas = [{ question, answers: [{ text: '1911' }] }]
      return { title: 'Baths', paragraphs: [{ context, qas }] }
    })
    const file = join(folder, name)
    await writeFile(file, JSON.stringify({ data }))
    return file
  }
  const german = await fileOf('de.json', [
    {
      context: 'Im Jahr 1911 baute der Meister Harter ein Bad mit einer Sauna.',
      question: 'Wann baute Harter ein Bad?',
    },
    {
      context: 'Das Haus leitete viele Jahre lang Klara Wendt aus Neudorf.',
      question: 'Wer leitete das Haus?',
    },
  ])
  const english = await fileOf('en.json', [
    { context: 'In 1911 master Harter built a bath with a sauna.', question: 'When was it?' },
    { context: 'The house was run by Klara Wendt from Neudorf.', question: 'Who ran the house?' },
  ])
  const kindsOf = async (...options: string[]) => {
    const { stdout } = await run(process.execPath, [SCRIPT, german, 'german', ...options])
    return Array.from(stdout.matchAll(/'((?:name|noun))' +│ (\d+)/g), ([, kind, pairs]) => [
      kind,
      pairs,
    ])
  }
  expect(await kindsOf()).toEqual([
    ['name', '1'],
    ['name', '1'],
  ])
  expect(await kindsOf('--parallel', english)).toEqual([
    ['name', '1'],
    ['noun', '1'],
    ['noun', '1'],
  ])
})

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
