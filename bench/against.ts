import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Findings } from './support/bench.ts'
import { median, round } from './support/statistics.ts'

type Found = Record<string, Findings>

/**
 * Runs benchmarks with the server of this checkout and with that of another, by turns, one round at a time. The
 * benchmark itself is this checkout's both times. The ratio is that of the medians: this one's to the other's.
 */
export async function compareCheckouts(
  other: string,
  parameters: readonly string[],
  { rounds, progress }: { rounds: number; progress: (message: string) => void },
): Promise<Findings[]> {
  const here: Found[] = []
  const there: Found[] = []
  for (let turn = 1; turn <= rounds; turn += 1) {
    progress(`this checkout, ${turn} of ${rounds}`)
    here.push(await runIn(undefined, parameters))
    progress(`${other}, ${turn} of ${rounds}`)
    there.push(await runIn(resolve(other), parameters))
  }
  return Object.entries(here[0] ?? {}).map(([name, { title, rows }]) => ({
    title: `${title}: this checkout ÷ ${other}`,
    rows: rows.map((row, place) => {
      const cells = Object.keys(row).map((column, i): [string, string] => {
        const over = (turns: readonly Found[]) =>
          median(turns.map((found) => Number.parseFloat(`${found[name]?.rows[place]?.[column]}`)))
        const [own, others] = [over(here), over(there)]
        if (i === 0 || !Number.isFinite(own)) return [column, `${row[column]}`]
        return [column, `${round(own)} ÷ ${round(others)} = ${round(own / others)}`]
      })
      return Object.fromEntries(cells)
    }),
    notes: [`The medians of ${rounds} turns.`],
  }))
}

/** What one round finds with the server of a checkout; with this one's if there is none. */
async function runIn(checkout: string | undefined, parameters: readonly string[]): Promise<Found> {
  const directory = await mkdtemp(join(tmpdir(), 'agent-server-bench-'))
  const file = join(directory, 'found.json')
  const program = join(import.meta.dirname, 'run.ts')
  const environment = checkout === undefined ? {} : { BENCH_CHECKOUT: checkout }
  try {
    const all = [program, ...parameters, '--rounds', '1', '--json', file]
    await promisify(execFile)(process.execPath, all, { env: { ...process.env, ...environment } })
    return JSON.parse(await readFile(file, 'utf8')).found
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
