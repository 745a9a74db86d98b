import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { extractFile } from '@agent-server/readers'
import { chromium } from 'playwright-core'
import { contentOf } from './content.ts'
import { orderRecall, rowRecall, textRecall } from './measures.ts'

const USAGE = `Usage: node scripts/eval/files/score.ts <folder> [--read FOLDER] [--only TYPE] [--each]

Measures how well files are read, by type: the share of words that are found again, of phrases in the right order, and of
table rows whose cells stand in one line; the files with text of which nothing was read; and the median of seconds of
processor time. With --read, what another reader made of each file (<file>.md and <file>.seconds, as by peers.py). What the
files say is read by Chromium (CHROMIUM, else /usr/bin/chromium), pdftotext, and from the XML of office files.`

/** A file with fewer words than this says nothing about a reader. */
const MIN_LETTERS = 20
const MEASURES = { text: textRecall, order: orderRecall, rows: rowRecall }

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { read: { type: 'string' }, only: { type: 'string' }, each: { type: 'boolean' } },
})
const [folder] = positionals
if (folder === undefined) {
  process.stderr.write(`${USAGE}\n`)
  process.exit(2)
}

interface Read {
  text: string
  seconds?: number
}

async function readByUs(name: string, path: string): Promise<Read> {
  const bytes = await readFile(path)
  const start = process.cpuUsage()
  const { text } = await extractFile({ name, mediaType: 'application/octet-stream', bytes })
  const { user, system } = process.cpuUsage(start)
  return { text, seconds: (user + system) / 1_000_000 }
}

async function readByPeer(name: string, from: string): Promise<Read> {
  if (!existsSync(join(from, `${name}.md`))) return { text: '' }
  const seconds = Number(await readFile(join(from, `${name}.seconds`), 'utf8'))
  return { text: await readFile(join(from, `${name}.md`), 'utf8'), seconds }
}

const nothing = (name: string) => (error: unknown) => {
  process.stderr.write(`${name}: ${error instanceof Error ? error.message : error}\n`)
  return { text: '' }
}

const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]

type Results = Record<keyof typeof MEASURES | 'seconds', number[]> & {
  files: number
  empty: number
}
const byType = new Map<string, Results>()
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
})
const page = await browser.newPage({ javaScriptEnabled: false, offline: true })
for (const name of (await readdir(folder)).toSorted()) {
  const type = extname(name).slice(1)
  if (values.only !== undefined && values.only !== type) continue
  const path = join(folder, name)
  const content = await contentOf(path, page).catch(nothing(name))
  if (!content || !('rows' in content) || content.text.trim().length < MIN_LETTERS) continue
  const read = await (values.read === undefined
    ? readByUs(name, path)
    : readByPeer(name, values.read)
  ).catch(nothing(name))
  const results = byType.get(type) ?? {
    text: [],
    order: [],
    rows: [],
    seconds: [],
    files: 0,
    empty: 0,
  }
  byType.set(type, results)
  results.files++
  if (read.text.trim() === '') results.empty++
  if ('seconds' in read && read.seconds !== undefined) results.seconds.push(read.seconds)
  const scores = Object.entries(MEASURES).flatMap(([measure, score]) => {
    const value = score(content, read.text)
    if (value === undefined) return []
    results[measure as keyof typeof MEASURES].push(value)
    return [`${measure} ${value.toFixed(3)}`]
  })
  if (values.each) process.stdout.write(`${name}: ${scores.join(', ')}\n`)
}
await browser.close()
for (const [type, { files, empty, seconds, ...measured }] of byType) {
  const means = Object.entries(measured).map(([measure, each]) =>
    each.length === 0 ? `${measure} –` : `${measure} ${mean(each).toFixed(3)} (${each.length})`,
  )
  const time = median(seconds)?.toFixed(3) ?? '–'
  process.stdout.write(`${type}: ${files} files, ${means.join(', ')}, ${empty} empty, ${time} s\n`)
}
