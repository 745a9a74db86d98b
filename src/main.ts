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

/** How long closing may take beyond the grace period; then the process exits, whatever keeps it open. */
const CLOSING_MS = 15_000

const rebuilding = () => import('./commands/rebuild.ts')
const prebuilding = () => import('./commands/prebuild.ts')
const transfer = () => import('./commands/transfer.ts')

/** The other commands of `npm run`; the server itself does not load them. */
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

/** Names of errors that an operator can fix; they are reported without a stack. */
const SAID_IN_WORDS = [
  ...['Error', 'AppError', 'AgentConfigurationError', 'ConfigError', 'EmbedderError'],
  'StoppedEarly',
]

const ROOT = resolve(import.meta.dirname, '..')

/** A signal stopped the process before it served; that is no failure. */
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
  // Before the configuration is read, because its mistakes are worded in the same way.
  speakPlainly()
  const command = COMMANDS.get(process.argv[2] ?? '')
  if (command) return runCommand(await command())

  // Listen for signals from the start, since PID 1 of a container ignores those without a handler; but act on
  // them only once the server has started, because exiting while threads start can hang.
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
      // Without what .env added: the file may have changed by now.
      const parameters = as === 'stopped' ? [STOPPED] : []
      askForAnother?.(parameters)
      replaceProcess(process.argv[1] ?? '', given.variables, parameters)
    },
  })
  await opened.start()
  freeMemoryWhenIdle()
  precompileOnce(fileURLToPath(import.meta.url))
}

/** Prints where to begin after a first start, or a one-time link if the environment has no valid key. */
function greet({ config, log, screen }: Opened, endpoint: string, newKey?: string): void {
  if (!newKey && config.SERVER_API_KEY === process.env.SERVER_API_KEY) return
  // Output to a file is a log, whose readers are not meant to have the key.
  const isFile = fstatSync(process.stdout.fd).isFile()
  const token = isFile ? undefined : screen?.sessions.issueToken()
  const page = token && `${endpoint}/#token=${token}`
  if (newKey) process.stdout.write(welcome(endpoint, isFile ? undefined : newKey, page))
  else if (page) process.stdout.write(`Open it once, within 30 minutes: ${page}\n`)
  if (page && process.stdout.isTTY) openBrowser(page, process.env, log)
}

let telemetry: Telemetry | undefined

type Opened = Awaited<ReturnType<typeof openServer>>

/** Opens the full server, or only the part for setting it up if it was stopped on purpose or its setup is faulty. */
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
  // If the environment has no valid key, a random one that nobody knows.
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
  // Imported only now, while a worker thread loads the index.
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

/** Loads .env. Variables that are already set win, as is usual; an empty one counts as not set. */
function loadEnvironmentFile(): void {
  for (const name of VARIABLE_NAMES) if (process.env[name] === '') delete process.env[name]
  try {
    process.loadEnvFile('.env')
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

/**
 * Logs to standard output (formatted on a terminal, JSON elsewhere), to the activity that the screen shows, and to
 * OpenTelemetry if asked to.
 */
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

/** Closes when asked to stop or to restart; a stop signal that arrives while closing wins. */
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

/** Errors that the operator can fix are reported by their message; all others keep their stack. */
function explain(error: Error): string {
  const wrong = explainListening(error) ?? explainPath(error)
  if (wrong) return wrong
  if (!SAID_IN_WORDS.includes(error.name)) return error.stack ?? error.message
  const { cause } = error
  // Add the operating system's reason, such as a missing permission.
  return cause instanceof Error && 'syscall' in cause
    ? `${error.message}: ${cause.message}`
    : error.message
}
