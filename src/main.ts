import { once } from 'node:events'
import { fstatSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import type { AppOptions } from './app.ts'
import type { Command } from './commands/command.ts'
import {
  type Activity,
  type BeginAnew,
  compose,
  composeIdle,
  isMendable,
  openActivity,
  type Phase,
  type ProcessParts,
} from './compose/compose.ts'
import { openScreen } from './compose/screen.ts'
import { type Config, loadConfig, salvageConfig, VARIABLE_NAMES } from './config.ts'
import { makeKey, openBrowser, prepareFirstStart, welcome } from './first-start.ts'
import { explainPath, isMissing } from './lib/files.ts'
import { freeMemoryWhenIdle } from './lib/processes/free-memory.ts'
import { closeInherited } from './lib/processes/inherited-descriptors.ts'
import { explainListening } from './lib/processes/listen-failure.ts'
import { precompileOnce } from './lib/processes/precompile.ts'
import {
  askForAnother,
  isReplaceable,
  onStopSignal,
  replaceProcess,
  STOPPED,
} from './lib/processes/restart.ts'
import { speakPlainly } from './schemas/invalid-request.ts'
import { createLogSender, startTelemetry, type Telemetry } from './telemetry.ts'

/** Closing takes at most the grace period and this: then the process ends whatever still holds it. */
const CLOSING_MS = 15_000

const rebuilding = () => import('./commands/rebuild.ts')
const prebuilding = () => import('./commands/prebuild.ts')
const transfer = () => import('./commands/transfer.ts')

/** What `npm run` has beside the server, which does not load it. */
const COMMANDS = new Map<string, () => Promise<Command>>([
  ['re-embed', async () => (await rebuilding()).runReEmbed],
  ['reindex', async () => (await rebuilding()).runReindex],
  ['rebuild-index', async () => (await rebuilding()).runRebuildIndex],
  ['migrate', async () => (await transfer()).runMigrate],
  ['export', async () => (await transfer()).runExport],
  ['import', async () => (await transfer()).runImport],
  ['deploy', async () => (await import('./commands/deploy.ts')).runDeploy],
  ['precompile', async () => (await prebuilding()).runPrecompile],
  ['prebuild-screen', async () => (await prebuilding()).runPrebuildScreen],
])

/** The names of errors that an operator can do something about. */
const SAID_IN_WORDS = [
  ...['Error', 'AppError', 'AgentConfigurationError', 'ConfigError', 'EmbedderError'],
  'StoppedEarly',
]

const ROOT = resolve(import.meta.dirname, '..')

/** Stopped by a signal before it served, and so not in error. */
class StoppedEarly extends Error {
  override readonly name = 'StoppedEarly'
  readonly signal: string

  constructor(signal: string) {
    super(`${signal}: stopped before it served`)
    this.signal = signal
  }
}

async function main(): Promise<void> {
  closeInherited()
  // Before the configuration is read, whose mistakes are reported in the same words.
  speakPlainly()
  const command = COMMANDS.get(process.argv[2] ?? '')
  if (command) return runCommand(await command())

  // Heard from the first moment, since the first process of a container would not hear it otherwise, and acted
  // on once the server has started: to leave while threads begin can hang.
  const stop = stopSignal((name) => new StoppedEarly(name))
  const newKey = await prepareFirstStart(process.cwd(), ROOT, process.env)
  const given = { variables: { ...process.env }, file: resolve('.env') }
  loadEnvironmentFile()
  const next = new AbortController()
  const opened = await openServer({
    ...{ environment: process.env, given, signal: stop },
    ...((askForAnother || isReplaceable()) && { restart: (as) => next.abort(as) }),
  })
  const { config, log, app } = opened
  const endpoint = await app.listen({ host: config.HOST, port: config.PORT, listenTextResolver })
  greet(opened, endpoint, newKey)
  void closeOn(stop, next.signal, config, log, {
    close: opened.close,
    beginAnew(as) {
      // Without what .env added, which may say something else by now.
      const parameters = as === 'stopped' ? [STOPPED] : []
      askForAnother?.(parameters)
      replaceProcess(process.argv[1] ?? '', given.variables, parameters)
    },
  })
  await opened.start()
  freeMemoryWhenIdle()
  precompileOnce(fileURLToPath(import.meta.url))
}

/** Says where to begin, to who has just cloned it; and lets in who has no key that works. */
function greet({ config, log, screen }: Opened, endpoint: string, newKey?: string): void {
  if (!newKey && config.SERVER_API_KEY === process.env.SERVER_API_KEY) return
  // Whoever may read a log is not meant to have the key.
  const isFile = fstatSync(process.stdout.fd).isFile()
  const token = isFile ? undefined : screen?.sessions.issueToken()
  const page = token && `${endpoint}/#token=${token}`
  if (newKey) process.stdout.write(welcome(endpoint, isFile ? undefined : newKey, page))
  else if (page) process.stdout.write(`Open it once, within 30 minutes: ${page}\n`)
  if (page && process.stdout.isTTY) openBrowser(page, process.env, log)
}

let telemetry: Telemetry | undefined

type Opened = Awaited<ReturnType<typeof openServer>>

/** Everything, or only what shows how the server is set up where it is to be stopped, or where that is wrong. */
async function openServer(given: ProcessParts) {
  const parts = { ...given, activity: openActivity() }
  if (process.argv[2] === STOPPED) return openIdle(parts, { state: 'stopped' })
  try {
    const config = loadConfig(process.env)
    const log = createLog(config, parts.activity)
    telemetry = await startTelemetry(process.env, log)
    const composition = await compose(config, log, (error) => endAfter(error, log), parts)
    const { app, screen } = await openApp(config, log, ({ buildApp }, options) =>
      buildApp(composition.services, { ...options, isTraced: telemetry?.isTraced ?? false }),
    )
    const close = async () => {
      await app.close()
      await composition.close()
      await telemetry?.close()
    }
    return { config, log, app, screen, start: composition.start, close }
  } catch (error) {
    await telemetry?.fail(error)
    if (!isMendable(error)) throw error
    const { FAILED_START: then, NODE_ENV } = process.env
    const ends = then ? then === 'exit' : NODE_ENV === 'production'
    if (ends || process.env.UI === 'off') throw error
    process.stderr.write(`${error.message}\n`)
    return openIdle(parts, { state: 'failed', reason: error.message })
  }
}

async function openIdle(parts: ProcessParts & { activity: Activity }, phase: Phase) {
  // Where the environment has no key, one that nobody knows.
  const config = salvageConfig(process.env, makeKey())
  const log = createLog(config, parts.activity)
  log.warn(
    { state: phase.state },
    'not launched: the screen and /admin say how the server is set up',
  )
  const services = await composeIdle(config, log, phase, parts)
  const { app, screen } = await openApp(config, log, ({ buildIdleApp }, options) =>
    buildIdleApp(services, options),
  )
  return { config, log, app, screen, start: async () => undefined, close: () => app.close() }
}

async function openApp(
  config: Config,
  log: ReturnType<typeof createLog>,
  build: (app: typeof import('./app.ts'), options: AppOptions) => Promise<FastifyInstance>,
) {
  const { version } = JSON.parse(await readFile(resolve(ROOT, 'package.json'), 'utf8'))
  const screen = await openScreen(config, resolve(ROOT, 'ui'), log)
  // Here, while the index is loaded in a thread of its own.
  const app = await build(await import('./app.ts'), {
    ...{ log, version, screen },
    bodyLimit: config.BODY_LIMIT,
    serverApiKey: config.SERVER_API_KEY,
    corsOrigin: config.CORS_ORIGIN,
    trustProxy: config.TRUST_PROXY,
    shutdownGraceMs: config.SHUTDOWN_GRACE * 1_000,
  })
  return { app, screen }
}

function endAfter(error: Error, log: ReturnType<typeof createLog>): void {
  log.fatal(
    { err: error },
    'a vital part has failed; the server ends, nothing acknowledged is lost',
  )
  process.exit(1)
}

async function runCommand(command: Command): Promise<void> {
  loadEnvironmentFile()
  process.exitCode = await command({
    parameters: process.argv.slice(3),
    environment: process.env,
    config: () => loadConfig(process.env),
    createLog,
    stderr: process.stderr,
    signal: stopSignal(() => new Error('Interrupted: run it again')),
  })
}

const listenTextResolver = (address: string) =>
  `listening at ${address}, reference at ${address}/reference`

/** Variables that are set already win over the file, as everywhere; set to nothing counts as not set. */
function loadEnvironmentFile(): void {
  for (const name of VARIABLE_NAMES) if (process.env[name] === '') delete process.env[name]
  try {
    process.loadEnvFile('.env')
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

/** To standard output, for people on a terminal and as JSON elsewhere, and to what the screen shows of it. */
function createLog({ LOG_LEVEL: level }: Config, activity?: Activity) {
  const redact = { paths: ['*.authorization', '*.apiKey', '*.headers.authorization'], remove: true }
  const options = { level, redact }
  const pretty = {
    target: 'pino-pretty',
    options: { ignore: 'pid,hostname,reqId', translateTime: 'SYS:HH:MM:ss', singleLine: true },
  }
  const output = process.stdout.isTTY ? pino.transport(pretty) : pino.destination(1)
  const outputs = [output, activity, createLogSender(process.env)].filter(
    (each) => each !== undefined,
  )
  return pino(options, pino.multistream(outputs.map((stream) => ({ level: 'trace', stream }))))
}

/** Aborted by the first signal to stop; a second one ends the process at once. */
function stopSignal(reason: (name: string) => Error): AbortSignal {
  const stop = new AbortController()
  onStopSignal((name) => {
    if (stop.signal.aborted) process.exit(1)
    stop.abort(reason(name))
  })
  return stop.signal
}

/** Closes at a signal to stop or to begin anew; a signal to stop that comes while it closes wins. */
async function closeOn(
  stop: AbortSignal,
  next: AbortSignal,
  { SHUTDOWN_GRACE }: Config,
  log: ReturnType<typeof createLog>,
  { close, beginAnew }: { close: () => Promise<void>; beginAnew: BeginAnew },
): Promise<void> {
  const either = AbortSignal.any([stop, next])
  if (!either.aborted) await once(either, 'abort')
  const asked = stop.aborted ? stop.reason.signal : `to be ${next.reason}`
  log.info(`${asked}: closing; a second signal ends the server at once`)
  const late = () => {
    log.error('closing took too long; the server ends, nothing acknowledged is lost')
    if (!stop.aborted) beginAnew(next.reason)
    process.exit(1)
  }
  setTimeout(late, SHUTDOWN_GRACE * 1_000 + CLOSING_MS).unref()
  try {
    await close()
    log.info('closed')
  } catch (error) {
    log.error({ err: error }, 'closing failed')
    process.exitCode = 1
  }
  if (!stop.aborted) beginAnew(next.reason)
}

try {
  await main()
} catch (error) {
  await telemetry?.fail(error)
  process.stderr.write(`${error instanceof Error ? explain(error) : String(error)}\n`)
  process.exit(error instanceof StoppedEarly ? 0 : 1)
}

/** Mistakes that the operator can mend are said in words; anything else keeps its stack. */
function explain(error: Error): string {
  const wrong = explainListening(error) ?? explainPath(error)
  if (wrong) return wrong
  if (!SAID_IN_WORDS.includes(error.name)) return error.stack ?? error.message
  const { cause } = error
  // The system's own reason, such as a permission that is missing.
  return cause instanceof Error && 'syscall' in cause
    ? `${error.message}: ${cause.message}`
    : error.message
}
