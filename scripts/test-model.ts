import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { CHAT_APIS } from '@agent-server/models'
import { cacheDirectory, provideServer, provideWeights, Unavailable } from './model/cache.ts'
import type { WeightsName } from './model/packages.ts'
import { closingLine } from './read-report.ts'

const USAGE = `Usage: npm run test:model -- [--short] [files or options of vitest]

Tests with a real model: llama.cpp's llama-server and small weights, both from packages. They are kept in
$AGENT_SERVER_MODELS, or else ~/.cache/agent-server-models (about 1 GB).

  --short   a few minutes, with the smallest model; skipped where no llama-server was built: what .ci/run calls
  --api     the protocol that the model is asked in, repeatable; by default all that llama-server
            serves, or chat-completions alone with --short
  --fetch   only fills the cache`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    fetch: { type: 'boolean', default: false },
    api: { type: 'string', multiple: true },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(USAGE)
  process.exit(0)
}

/** The protocol of most servers that people run themselves. */
const SHORT_API = 'chat-completions'

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
  const weights: Record<string, string> = {
    TEST_LLAMA_SERVER: await provideServer(cache, !values.short || values.fetch),
  }
  for (const name of NEEDED) {
    weights[`TEST_WEIGHTS_${name.toUpperCase()}`] = await provideWeights(name, cache)
  }
  return weights
}

/** Runs the suites once in each protocol; returns the first exit code of a failure. */
async function runSuites(weights: Record<string, string>): Promise<number> {
  const parameters = ['scripts/test.ts', '--project=model', ...positionals]
  const form = { TEST_MODEL_SHORT: values.short ? '1' : '' }
  let failure = 0
  for (const api of values.api ?? (values.short ? [SHORT_API] : CHAT_APIS)) {
    console.log(`\n> the model is asked in ${api}`)
    const env = { ...process.env, ...weights, ...form, TEST_CHAT_API: api }
    const child = spawn(process.execPath, parameters, { stdio: 'inherit', env })
    const [code] = await once(child, 'close')
    failure ||= code ?? 1
  }
  return failure
}
