import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { extractFile } from '@agent-server/readers'
import { Parser } from 'htmlparser2'

const USAGE = `Usage: node scripts/eval/pdf/icdar.ts <folder> [--read FOLDER] [--each]

Measures how well the tables of the ICDAR 2013 competition are read. The folder has its PDFs, each with its -str.xml. With
--read, what another reader made of them (<file>.md and <file>.seconds, as by scripts/eval/files/peers.py). Neighbours in a
row and in a column by letters and digits, cells that span several in each of them; the mean of the documents.`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { read: { type: 'string' }, each: { type: 'boolean' } },
})
const [folder] = positionals
if (folder === undefined) {
  process.stderr.write(`${USAGE}\n`)
  process.exit(2)
}

type Grid = string[][]

const normalised = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')

function fill(grid: Grid, cell: Record<string, string>, text: string): void {
  const [top, left] = [Number(cell['start-row']), Number(cell['start-col'])]
  for (let row = top; row <= Number(cell['end-row'] ?? top); row++) {
    const cells = grid[row] ?? []
    grid[row] = cells
    for (let column = left; column <= Number(cell['end-col'] ?? left); column++) {
      cells[column] = text
    }
  }
}

/** The regions of the tables; a table that goes on elsewhere has several. */
function gridsOfTruth(xml: string): Grid[] {
  const grids: Grid[] = []
  let cell: Record<string, string> = {}
  let content: string | undefined
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (name === 'region') grids.push([])
        if (name === 'cell') cell = attributes
        if (name === 'content') content = ''
      },
      ontext(text) {
        if (content !== undefined) content += text
      },
      onclosetag(name) {
        if (name !== 'content') return
        const text = normalised(content ?? '')
        content = undefined
        fill(grids.at(-1) ?? [], cell, text)
      },
    },
    { xmlMode: true },
  )
  parser.end(xml)
  return grids
}

/** The tables of Markdown, and those of HTML within it. */
function gridsOfMarkdown(markdown: string): Grid[] {
  const grids: Grid[] = []
  let isWithin = false
  for (const line of markdown.split('\n')) {
    const cells = /^\s*\|(.*)\|\s*$/.exec(line)?.[1]?.split(/(?<!\\)\|/)
    if (!cells) {
      isWithin = false
      continue
    }
    if (!isWithin) grids.push([])
    isWithin = true
    if (!cells.every((cell) => /^\s*:?-+:?\s*$/.test(cell))) {
      grids.at(-1)?.push(cells.map((cell) => normalised(cell.replaceAll(/<[^<>]*>/g, ' '))))
    }
  }
  return grids
}

/** Pairs of cells that follow each other without any other text between them. */
function neighboursIn(grids: readonly Grid[]): Map<string, number> {
  const counts = new Map<string, number>()
  const follow = (cells: readonly (string | undefined)[], direction: string) => {
    const filled = cells.filter((text) => text !== undefined && text !== '')
    for (const [place, text] of filled.slice(1).entries()) {
      const pair = `${direction} ${filled[place]} ${text}`
      counts.set(pair, (counts.get(pair) ?? 0) + 1)
    }
  }
  for (const grid of grids) {
    const rows = Array.from(grid, (row) => row ?? [])
    const width = Math.max(0, ...rows.map((row) => row.length))
    for (const row of rows) follow(Array.from(row), 'right')
    for (let column = 0; column < width; column++) {
      follow(
        rows.map((row) => row[column]),
        'below',
      )
    }
  }
  return counts
}

const sum = (counts: Iterable<number>) => [...counts].reduce((all, count) => all + count, 0)

function scoreOf(truth: ReadonlyMap<string, number>, read: ReadonlyMap<string, number>) {
  const common = sum(Array.from(read, ([pair, count]) => Math.min(count, truth.get(pair) ?? 0)))
  const precision = common / Math.max(sum(read.values()), 1)
  const recall = common / Math.max(sum(truth.values()), 1)
  return {
    precision,
    recall,
    f: common === 0 ? 0 : (2 * precision * recall) / (precision + recall),
  }
}

async function readByUs(path: string) {
  const bytes = await readFile(path)
  const start = process.cpuUsage()
  const { text } = await extractFile({ name: 'a.pdf', mediaType: 'application/pdf', bytes })
  const { user, system } = process.cpuUsage(start)
  return { text, seconds: (user + system) / 1_000_000 }
}

async function readByPeer(path: string) {
  if (!existsSync(`${path}.md`)) return { text: '', seconds: 0 }
  const seconds = Number(await readFile(`${path}.seconds`, 'utf8'))
  return { text: await readFile(`${path}.md`, 'utf8'), seconds }
}

const names = await readdir(folder)
const scores: { precision: number; recall: number; f: number; name: string }[] = []
let seconds = 0
for (const name of names.filter((each) => each.endsWith('.pdf')).toSorted()) {
  const xml = await readFile(join(folder, name.replace('.pdf', '-str.xml')), 'utf8')
  const read = await (values.read === undefined
    ? readByUs(join(folder, name))
    : readByPeer(join(values.read, name)))
  seconds += read.seconds
  const truth = neighboursIn(gridsOfTruth(xml))
  const score = scoreOf(truth, neighboursIn(gridsOfMarkdown(read.text)))
  scores.push({ ...score, name })
  if (values.each) process.stdout.write(`${name} ${score.f.toFixed(3)}\n`)
}
const meanOf = (some: typeof scores, measure: 'precision' | 'recall' | 'f') =>
  (sum(some.map((score) => score[measure])) / some.length).toFixed(3)
function report(what: string, some = scores): void {
  const [precision, recall, f] = (['precision', 'recall', 'f'] as const).map((measure) =>
    meanOf(some, measure),
  )
  const good = some.filter((score) => score.f >= 0.95).length
  const bad = some.filter((score) => score.f < 0.5).length
  const counts = `${good} at least 0.95, ${bad} below 0.5`
  process.stdout.write(
    `${what}: ${some.length} documents, precision ${precision}, recall ${recall}, F ${f}; ${counts}\n`,
  )
}
for (const country of ['us', 'eu']) {
  report(
    country,
    scores.filter(({ name }) => name.startsWith(country)),
  )
}
report('all')
process.stdout.write(`${seconds.toFixed(0)} s of processor time\n`)
