import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compareCheckouts } from './against.ts'
import { agentLoop } from './agent-loop.ts'
import { builtinEmbedder } from './builtin-embedder.ts'
import { coldStart } from './cold-start.ts'
import { cost } from './cost.ts'
import { firstToken } from './first-token.ts'
import { hybrid } from './hybrid.ts'
import { ingestion } from './ingestion.ts'
import { libraries } from './libraries.ts'
import { memory } from './memory.ts'
import { peers } from './peers.ts'
import { query } from './query.ts'
import { queryWhileIngesting } from './query-while-ingesting.ts'
import { rights } from './rights.ts'
import { searchIndex } from './search-index.ts'
import { searchVectors } from './search-vectors.ts'
import { streams } from './streams.ts'
import { type Bench, type Findings, renderTable } from './support/bench.ts'
import { createCorpus } from './support/corpus.ts'
import { createSeededData } from './support/seeded-data.ts'

const BENCHMARKS = {
  cost,
  'first-token': firstToken,
  'agent-loop': agentLoop,
  streams,
  query,
  rights,
  ingestion,
  'query-while-ingesting': queryWhileIngesting,
  'search-index': searchIndex,
  'search-vectors': searchVectors,
  hybrid,
  'cold-start': coldStart,
  memory,
  'builtin-embedder': builtinEmbedder,
  peers,
  libraries,
} satisfies Record<string, (bench: Bench) => Promise<Findings>>

const SIZES = [1_000, 10_000, 100_000]

const HELP = `npm run bench -- [options]
  --only <name>    one of ${Object.keys(BENCHMARKS).join(', ')}; may be repeated
  --chunks <n>     the largest corpus, in chunks (${SIZES.at(-1)})
  --rounds <n>     rounds of each measurement (5)
  --json <file>    write the findings there, too
  --corpus <dir>   take the text from here instead of the system's documentation
  --load <n>       of streams only this load, from 1
  --embedder <m>   the EMBEDDING_MODEL of first-token, such as builtin (none)
  --chroma <path>  the command of Chroma, for peers
  --lancedb <dir>  the folder that @lancedb/lancedb is installed in, for libraries
  --guard          fail if cost is more than three fifths above bench/cost.json
  --against <dir>  measure this server and that of another checkout by turns, and print the ratios
  --keep <dir>     keep the filled data directories there, for the next run`

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    chunks: { type: 'string', default: String(SIZES.at(-1)) },
    rounds: { type: 'string', default: '5' },
    json: { type: 'string' },
    corpus: { type: 'string' },
    load: { type: 'string' },
    embedder: { type: 'string' },
    chroma: { type: 'string' },
    lancedb: { type: 'string' },
    guard: { type: 'boolean', default: false },
    against: { type: 'string' },
    keep: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) process.stdout.write(`${HELP}\n`)
else if (options.against !== undefined) await compare(options.against)
else await run()

async function compare(other: string): Promise<void> {
  const { against, rounds, json, guard, help, only = [], ...others } = options
  const given = Object.entries({ ...others, chunks: options.chunks })
    .filter(([, value]) => value !== undefined)
    .flatMap(([name, value]) => [`--${name}`, `${value}`])
  const parameters = [...only.flatMap((name) => ['--only', name]), ...given]
  const turns = { rounds: Number(rounds), progress: tell }
  for (const findings of await compareCheckouts(other, parameters, turns))
    process.stdout.write(`${renderTable(findings)}\n`)
}

async function run(): Promise<void> {
  const names = options.only ?? Object.keys(BENCHMARKS)
  const chosen = Object.entries(BENCHMARKS).filter(([name]) => names.includes(name))
  if (chosen.length < names.length) throw new Error(`There is no such benchmark.\n${HELP}`)

  const directory = await mkdtemp(join(tmpdir(), 'agent-server-bench-'))
  const kept = options.keep ?? join(directory, 'seeds')
  await mkdir(kept, { recursive: true })
  const corpus = createCorpus(options.corpus)
  const largest = Number(options.chunks)
  const sizes = [...SIZES.filter((size) => size < largest), largest]
  const found: Record<string, Findings> = {}
  process.stdout.write(`${machine()}\n\n`)
  try {
    for (const [name, measure] of chosen) {
      const progress = (message: string) => tell(`${name}: ${message}`)
      const seeded = createSeededData({ corpus, kept, directory, progress })
      const rounds = Number(options.rounds)
      const findings = await measure({
        corpus,
        seeded,
        directory,
        rounds,
        sizes,
        progress,
        load: options.load,
        embedder: options.embedder,
        chroma: options.chroma,
        lancedb: options.lancedb,
        guard: options.guard,
      })
      tell('')
      process.stdout.write(`${renderTable(findings)}\n`)
      found[name] = findings
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
  process.stdout.write(`${corpus.notes().join('\n')}\n`)
  if (options.json) await writeFile(options.json, JSON.stringify({ machine: machine(), found }))
}

/** Shows progress on stderr: on a terminal, a single line that is overwritten. */
function tell(message: string): void {
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${message}` : message && `${message}\n`)
}

function machine(): string {
  const [cpu] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  const cores = `${availableParallelism()} × ${cpu?.model.trim() ?? 'unknown processor'}`
  const date = new Date().toISOString().slice(0, 10)
  return `${date}, Node ${process.versions.node}, ${process.platform} ${release()}, ${cores}, ${memory} GiB`
}
