import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { extractFile } from '@agent-server/readers'
import { headings, readingOrder, tables } from './measures.ts'

const USAGE = `Usage: node scripts/eval/pdf/score.ts <folder> [--read FOLDER] [--all | --held-out] [--each]

Measures how well PDFs are read, against the Markdown beside each: NID (order), TEDS (tables), MHS (headings). With --read,
what another reader made of each file (<name>.md). Every second file, by a hash of its name, is held out: --held-out measures
these, --all both, nothing the others.`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    read: { type: 'string' },
    all: { type: 'boolean' },
    'held-out': { type: 'boolean' },
    each: { type: 'boolean' },
  },
})
const [folder] = positionals
if (folder === undefined) {
  process.stderr.write(`${USAGE}\n`)
  process.exit(2)
}

/** The same half each time. */
const SEED = 7
const isHeldOut = (name: string) =>
  (Array.from(name).reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 65_521, SEED) >>
    2) %
    2 ===
  0

async function read(name: string): Promise<string> {
  if (values.read !== undefined) return readFile(join(values.read, `${name}.md`), 'utf8')
  const bytes = await readFile(join(folder ?? '', `${name}.pdf`))
  const file = { name: `${name}.pdf`, mediaType: 'application/pdf', bytes }
  return (await extractFile(file)).text.replaceAll('\f', '')
}

const names = (await readdir(folder))
  .filter((name) => name.endsWith('.pdf'))
  .map((name) => name.slice(0, -'.pdf'.length))
  .filter((name) => values.all || isHeldOut(name) === (values['held-out'] ?? false))
  .toSorted()
const MEASURES = { NID: readingOrder, TEDS: tables, MHS: headings }
const scores: Record<keyof typeof MEASURES, number[]> = { NID: [], TEDS: [], MHS: [] }
for (const name of names) {
  const expected = await readFile(join(folder, `${name}.md`), 'utf8')
  const actual = await read(name)
  const ownScores = Object.entries(MEASURES).flatMap(([measure, score]) => {
    const value = score(expected, actual)
    if (value === undefined) return []
    scores[measure as keyof typeof MEASURES].push(value)
    return [`${measure} ${value.toFixed(3)}`]
  })
  if (values.each) process.stdout.write(`${name}: ${ownScores.join(', ')}\n`)
}
const means = Object.entries(scores).map(([measure, each]) => {
  const mean = each.reduce((sum, value) => sum + value, 0) / Math.max(each.length, 1)
  return `${measure} ${mean.toFixed(3)}`
})
process.stdout.write(`${names.length} files: ${means.join(', ')}\n`)
