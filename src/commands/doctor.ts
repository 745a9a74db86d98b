import { readFile, statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { arch, availableParallelism, platform, release, totalmem } from 'node:os'
import { dirname, resolve } from 'node:path'
import { parseParameters } from '@agent-server/lib/command-line.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { isMissing } from '@agent-server/lib/files.ts'
import { checkProcess } from '@agent-server/lib/processes/child-process.ts'
import { messageOf } from '@agent-server/lib/system-error.ts'
import { checkDatabase, openBackup } from '@agent-server/stores'
import { z } from 'zod'
import {
  AgentServer,
  ConnectionError,
  type ModelTest,
} from '../../packages/client/src/agent-server.ts'
import { embeddingModel, embedsHere } from '../compose/models.ts'
import { PROCESS_REMEDY, processesOf } from '../compose/processes.ts'
import { storePlace } from '../compose/stores.ts'
import { type Config, EXTRACTIVE } from '../config.ts'
import { indexDriver } from '../features.ts'
import { storageUseOf } from '../operator/ops/storage-use.ts'
import type { Command } from './command.ts'

const ANSWER_MS = 10_000
/** The server's own deadline for a trial of a model, and a moment more. */
const MODEL_MS = 100_000
/** Reading this much takes seconds. */
const MAX_CHECKED_BYTES = 4_000_000_000
/** Below this, a database or a search index cannot be rewritten safely. */
const LOW_DISK_BYTES = 1_000_000_000

const Manifest = z.object({ name: z.string(), version: z.string() })

interface Finding {
  part: string
  words: string
  /** Present if the part does not work. */
  remedy?: string | undefined
  /** Whether it works, but not for long. */
  isWarning?: boolean
}

/**
 * `npm run doctor`: prints what one needs to know to help somebody with this server, without secrets. Returns 1 if
 * something does not work.
 */
export const runDoctor: Command = async (context) => {
  const { parameters, stderr } = context
  const { positionals } = parseParameters(parameters, {})
  if (positionals.length > 0) {
    stderr.write(
      'Usage: npm run doctor\n\nChecks the server of this directory and suggests a remedy for each failure.\n',
    )
    return 2
  }
  let failed = 0
  const report = ({ part, words, remedy, isWarning }: Finding) => {
    const state = remedy ? 'FAILED' : isWarning ? 'WARN  ' : 'ok    '
    stderr.write(`${state} ${part.padEnd(14)} ${words}\n`)
    if (!remedy) return
    stderr.write(`       ${''.padEnd(14)} → ${remedy}\n`)
    failed += 1
  }
  report(await describeVersions())
  const config = loadSettings(context)
  report(config.finding)
  if (!config.loaded) return 1
  for (const finding of await checkProcesses(config.loaded)) report(finding)
  report(await checkDisk(config.loaded))
  const database = await describeDatabase(config.loaded, context.signal)
  report(database)
  const growth = database.remedy ? undefined : await describeStorage(config.loaded, context.signal)
  if (growth) report(growth)
  for (const finding of await checkServer(config.loaded, context.signal)) report(finding)
  stderr.write(failed === 0 ? 'Everything works\n' : `${failed} failed\n`)
  return failed === 0 ? 0 : 1
}

async function describeVersions(): Promise<Finding> {
  const file = resolve(import.meta.dirname, '../../package.json')
  const { name, version } = Manifest.parse(JSON.parse(await readFile(file, 'utf8')))
  const machine = `${platform()} ${release()} ${arch()}, ${availableParallelism()} processors, ${inGigabytes(totalmem())}`
  return {
    part: 'versions',
    words: `${name} ${version}, Node.js ${process.versions.node}, ${machine}`,
  }
}

function loadSettings({ config }: Parameters<Command>[0]): { finding: Finding; loaded?: Config } {
  const part = 'settings'
  try {
    const loaded = config()
    const words = [
      loaded.DATABASE_URL ? 'PostgreSQL' : 'SQLite',
      indexDriver(loaded).name,
      `chat model ${loaded.CHAT_MODEL}`,
      `embedding model ${embeddingModel(loaded) ?? 'none'}`,
    ]
    return { finding: { part, words: words.join(', ') }, loaded }
  } catch (error) {
    const words = 'not valid'
    return { finding: { part, words, remedy: messageOf(error) } }
  }
}

function checkProcesses(config: Config): Promise<Finding[]> {
  const check = async ({ name: part, entry }: ReturnType<typeof processesOf>[number]) => {
    try {
      await checkProcess(entry)
      return { part, words: 'its process starts' }
    } catch (error) {
      const words = `its process does not start: ${messageOf(error)}`
      return { part, words, remedy: PROCESS_REMEDY }
    }
  }
  return Promise.all(processesOf(embedsHere(config)).map(check))
}

/** The free space where the data are, or will be. */
async function checkDisk({ DATA_DIR }: Config): Promise<Finding> {
  const folder = resolve(DATA_DIR)
  let present = folder
  for (;;) {
    try {
      const { bavail, bsize } = await statfs(present)
      const words = `${inGigabytes(bavail * bsize)} free in ${folder}`
      const remedy = 'free some space: documents are refused when the disk is full'
      return { part: 'disk', words, ...(bavail * bsize < LOW_DISK_BYTES && { remedy }) }
    } catch (error) {
      if (!isMissing(error) || present === dirname(present))
        return {
          part: 'disk',
          words: messageOf(error),
          remedy: 'set DATA_DIR to a folder that can be read and written',
        }
      present = dirname(present)
    }
  }
}

async function describeDatabase(config: Config, signal: AbortSignal): Promise<Finding> {
  const part = 'database'
  try {
    return { part, ...(await checkDatabase(storePlace(config), MAX_CHECKED_BYTES, signal)) }
  } catch (error) {
    signal.throwIfAborted()
    return { part, words: 'cannot be read', remedy: messageOf(error) }
  }
}

/** How much there is of what grows. Nothing before the first start, nor where the database cannot be read, which is a finding. */
async function describeStorage(config: Config, signal: AbortSignal): Promise<Finding | undefined> {
  try {
    const backup = await openBackup(storePlace(config))
    for await (const record of backup.read(signal)) {
      if (record.kind !== 'start') break
      const growth = storageUseOf(config, new Map(Object.entries(record.rows)))
      const words = growth.map(({ name, count }) => `${count.toLocaleString('en')} ${name}`)
      return { part: 'storage', words: words.join(', ') }
    }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof AppError)) throw error
  }
  return undefined
}

/** The state of the running server; if none runs, whether one could listen. */
async function checkServer(config: Config, signal: AbortSignal): Promise<Finding[]> {
  const host = config.HOST === '0.0.0.0' || config.HOST === '::' ? '127.0.0.1' : config.HOST
  const baseURL = `http://${host.includes(':') ? `[${host}]` : host}:${config.PORT}`
  const client = new AgentServer({ baseURL, apiKey: config.SERVER_API_KEY, maxRetries: 0 })
  const options = { signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]) }
  try {
    const { status, checks, degraded, warnings = [] } = await client.admin.readiness(options)
    const parts = Object.entries(checks).map(([part, { state, milliseconds, message }]) => ({
      part,
      words: state === 'ok' ? `works (${milliseconds} ms)` : 'does not work',
      remedy: state === 'ok' ? undefined : (message ?? 'see the log'),
    }))
    return [
      { part: 'server', words: `${baseURL} is ${status}${degraded ? ', degraded' : ''}` },
      ...parts,
      ...(await checkModels(client, warnings, signal)),
    ]
  } catch (error) {
    if (!(error instanceof ConnectionError)) {
      const words = `what answers at ${baseURL} is not this server: ${messageOf(error)}`
      return [{ part: 'server', words, remedy: 'stop the other program, or set another PORT' }]
    }
    signal.throwIfAborted()
    const portProblem = await whyNotFree(config)
    const words = `does not run; ${portProblem ?? `port ${config.PORT} is free`}`
    const remedy = portProblem
      ? 'stop the other program, or set another PORT'
      : 'run npm start, then npm run doctor again'
    return [{ part: 'server', words, remedy }]
  }
}

/** The part that each warning of the readiness is about. */
const WARNINGS = { model_closes: 'models', clock_jumped: 'clock', language_mismatch: 'languages' }

/** Has the running server ask its chat model as a chat would; and says what works but not well, or not for long. */
async function checkModels(
  { admin }: AgentServer,
  warnings: readonly { code: keyof typeof WARNINGS; message: string }[],
  signal: AbortSignal,
): Promise<Finding[]> {
  const part = 'chat model'
  const notices = new Map(warnings.map(({ code, message }) => [message, WARNINGS[code]]))
  const noticed = () => [...notices].map(([words, part]) => ({ part, words, isWarning: true }))
  try {
    const options = { signal, timeout: MODEL_MS }
    const test = await admin.models.test({ kind: 'chat' }, options)
    const { model, ok, error, warning } = test
    if (warning) notices.set(warning, WARNINGS.model_closes)
    if (ok) return [{ part, words: describeTest(test) }, ...noticed()]
    const remedy = `${error ?? 'see the log'}; docs/reference/errors.md has what each failure means`
    return [{ part, words: `${model} does not answer`, remedy }, ...noticed()]
  } catch (error) {
    signal.throwIfAborted()
    return [{ part, words: 'could not be asked', remedy: messageOf(error) }, ...noticed()]
  }
}

const TOOLS = { called: 'calls tools', ignored: 'calls no tool', none: 'takes no tools' }
const IMAGES = { seen: 'sees images', ignored: 'ignores images', none: 'takes no images' }
const REASONING = {
  none: 'shows no reasoning',
  summary: 'sums up its reasoning',
  text: 'shows its reasoning',
}

function describeTest({ model, milliseconds, chat }: ModelTest): string {
  const answers = `${model} answers (${milliseconds} ms)`
  if (!chat || model === EXTRACTIVE) return answers
  const { api, window, tools, images, reasoning, tokensPerSecond, promptTokens } = chat
  const estimated = chat.promptTokensEstimated ? 'some ' : ''
  const facts = [
    api && `by ${api}`,
    `window of ${window} tokens`,
    TOOLS[tools],
    IMAGES[images],
    reasoning && REASONING[reasoning],
    tokensPerSecond !== undefined && `${tokensPerSecond} tokens a second`,
    promptTokens !== undefined && `a first question is ${estimated}${promptTokens} tokens`,
  ]
  return `${answers}: ${facts.filter(Boolean).join(', ')}`
}

function whyNotFree({ HOST, PORT }: Config): Promise<string | undefined> {
  return new Promise((resolved) => {
    const server = createServer()
    server.once('error', (error) => resolved(error.message))
    server.listen(PORT, HOST, () => server.close(() => resolved(undefined)))
  })
}

const inGigabytes = (bytes: number) => `${(bytes / 1_000_000_000).toFixed(1)} GB`
