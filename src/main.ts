import { once } from 'node:events'
import { fstatSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { cutVariables, loadEnvFile } from '@agent-server/lib/env-file.ts'
import { AppError, SetupError } from '@agent-server/lib/errors.ts'
import { freeMemoryWhenIdle } from '@agent-server/lib/processes/free-memory.ts'
import { hideSecrets, neverShow } from '@agent-server/lib/secrets.ts'
import { explainListening, explainPath } from '@agent-server/lib/system-error.ts'
import { installErrorMessages } from '@agent-server/schemas/invalid-request.ts'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { AppOptions } from './app.ts'
import type { Command } from './commands/command.ts'
import {
  compose,
  composeIdle,
  openActivity,
  type Phase,
  type ProcessParts,
  type RestartAs,
} from './compose/compose.ts'
import { openWebUi } from './compose/web-ui.ts'
import {
  asBefore,
  type Config,
  EXTRACTIVE,
  isOtherStore,
  loadConfig,
  loadLenientConfig,
  noticesOf,
  settingsFrom,
} from './config.ts'
import { makeKey, openBrowser, prepareFirstStart, welcome } from './first-start.ts'
import { createLog } from './process-log.ts'
import { secretsInLog } from './secrets-in-log.ts'
import { stopSignal } from './stop-signal.ts'
import { startTelemetry } from './telemetry.ts'

/** New files and folders are for this user alone. */
const PRIVATE_UMASK = 0o077

/** How long closing may take beyond the grace period; then the process exits, whatever keeps it open. */
const CLOSING_MS = 15_000

const rebuilding = () => import('./commands/rebuild.ts')
const backup = () => import('./commands/backup.ts')

/** The other commands of `npm run`; the server itself does not load them. */
const COMMANDS = new Map<string, () => Promise<Command>>([
  ['re-embed', async () => (await rebuilding()).runReEmbed],
  ['rebuild-index', async () => (await rebuilding()).runRebuildIndex],
  ['migrate', async () => (await import('./commands/transfer.ts')).runMigrate],
  ['backup', async () => (await backup()).runBackup],
  ['restore', async () => (await backup()).runRestore],
  ['doctor', async () => (await import('./commands/doctor.ts')).runDoctor],
  ['deploy', async () => (await import('./commands/deploy.ts')).runDeploy],
  ['prebuild-web-ui', async () => (await import('./commands/prebuild.ts')).runPrebuildWebUi],
])

/** What the log says when a server closes so that another one starts. */
const CLOSING = {
  running: 'restarting',
  stopped: 'stopping',
  failed: 'closing after a failed start',
}

/** Names of errors that an operator can fix; they are reported without a stack. */
const OPERATOR_ERRORS = ['Error', 'AppError', 'EmbedderError', 'StoppedEarly']

const ROOT = resolve(import.meta.dirname, '..')

/** A signal stopped the process before it served; that is no failure. */
class StoppedEarly extends Error {
  override readonly name = 'StoppedEarly'
  readonly signal: string

  constructor(signal: string) {
    super(`${signal}: stopped before the server was ready`)
    this.signal = signal
  }
}

async function main(): Promise<void> {
  // Whatever is written holds documents, keys or conversations, also in a folder that is open to others.
  process.umask(PRIVATE_UMASK)
  // Before the configuration is read, because its mistakes are worded in the same way.
  installErrorMessages()
  const command = COMMANDS.get(process.argv[2] ?? '')
  if (command) return runCommand(await command())

  // Listen for signals from the start, since PID 1 of a container ignores those without a handler; but act on
  // them only once the server has started, because exiting while threads start can hang.
  const stop = stopSignal((name) => new StoppedEarly(name))
  const effective = settingsFrom(process.env)
  const newKey = await prepareFirstStart(process.cwd(), ROOT, effective, (line) => {
    process.stderr.write(`${line}\n`)
  })
  freeMemoryWhenIdle()
  await serve(stop, effective, newKey)
}

/** Runs one server after another in this process until it is stopped: each restart reads the settings anew. */
async function serve(stop: AbortSignal, variables: NodeJS.ProcessEnv, newKey?: string) {
  const given = { variables, file: resolve('.env') }
  let phase: Phase | undefined = { state: process.argv[2] === 'stopped' ? 'stopped' : 'running' }
  let firstKey = newKey
  let last: Last | undefined
  while (phase) {
    loadEnvironment(given.variables)
    const next = new AbortController()
    const restart = (as: RestartAs) => next.abort({ state: as })
    const activity = openActivity()
    const parts = { environment: process.env, given, signal: stop, restart, activity }
    const { opened, endpoint, address } = await listen(await open(parts, phase, last), parts, last)
    const { config, log } = opened
    const before = last
    const now: Last = { ...address, worked: opened.isBefore ? undefined : before?.worked }
    last = now
    greet(opened, endpoint, firstKey)
    firstKey = undefined
    void opened.warn()
    const started = opened.start().then(
      () => {
        if (opened.isWhole) now.worked = { ...process.env }
      },
      (error: unknown) => {
        if (now.worked && isOtherStore(now.worked, process.env)) now.worked = undefined
        next.abort(toFailed(error, before))
      },
    )
    const closed = closeOn(stop, next.signal, config, log, opened.close)
    ;[phase] = await Promise.all([closed, started])
  }
}

interface Address {
  host: string
  port: number
}

/** Where the last server of this process listened. */
interface Last extends Address {
  /** The variables with which one has worked. */
  worked: NodeJS.ProcessEnv | undefined
}

/** After a restart, a server that cannot listen where it should goes back to the last address that worked. */
async function listen(opened: Opened, parts: ProcessParts, last: Last | undefined) {
  const { HOST: host, PORT } = opened.config
  try {
    // A port that the system chose stays the same.
    return await listenAt(opened, { host, port: PORT || (last?.port ?? 0) })
  } catch (error) {
    if (!last) throw error
    const phase = toFailed(error, last)
    await opened.close()
    return listenAt(await openAsBefore({ ...parts, address: last }, phase, last), last)
  }
}

async function listenAt(opened: Opened, { host, port }: Address) {
  const endpoint = await opened.app.listen({ host, port, listenTextResolver })
  return { opened, endpoint, address: { host, port: Number(new URL(endpoint).port) } }
}

/** Opens the full server, or only the part for setting it up if it was stopped on purpose or its setup is faulty. */
async function open(parts: ProcessParts, phase: Phase, last: Last | undefined) {
  if (phase.state === 'failed') return openAsBefore(parts, phase, last)
  if (phase.state === 'stopped') return openIdle(parts, phase)
  try {
    return await openServer(parts)
  } catch (error) {
    // A part that was told to stop has not failed, such as a process that a terminal's Ctrl-C has ended, too.
    parts.signal.throwIfAborted()
    return openAsBefore(parts, toFailed(error, last), last)
  }
}

/** Opens the full server with the variables that have worked, if the saved ones do not; if it cannot, only that part. */
async function openAsBefore(parts: ProcessParts, failed: Phase, last: Last | undefined) {
  const before = last?.worked && asBefore(last.worked, process.env)
  if (!before) return openIdle(parts, failed)
  setEnvironment(before)
  try {
    return await openServer({ ...parts, wentBack: failed.reason })
  } catch (error) {
    parts.signal.throwIfAborted()
    loadEnvironment(parts.given.variables)
    return openIdle(parts, failed, error)
  }
}

const UNKNOWN_REASON =
  'The server did not start, for a reason that it does not know: its log has the error'

/**
 * What a server shows whose setup is faulty. Throws the error if it is of another kind, or is to end the process: not
 * after a restart, which settings that can be changed over HTTP must not turn into the end of the server.
 */
function toFailed(error: unknown, last: Address | undefined): Phase {
  const { FAILED_START: then, NODE_ENV, UI } = process.env
  const ends = (then ? then === 'exit' : NODE_ENV === 'production') || UI === 'off'
  const isForOperator = error instanceof SetupError || error instanceof AppError
  const wrong = error instanceof Error ? explainListening(error) : undefined
  const known = (isForOperator ? error.message : (wrong ?? explainPath(error))) ?? ''
  if (!last && (!known || ends)) throw error
  process.stderr.write(`${hideSecrets(known || wordsOf(error))}\n`)
  return { state: 'failed', reason: hideSecrets(known) || UNKNOWN_REASON }
}

/** Prints where to begin after a first start, or a one-time link if the environment has no valid key. */
function greet({ config, log, webUi }: Opened, endpoint: string, newKey?: string): void {
  if (!newKey && config.SERVER_API_KEY === process.env.SERVER_API_KEY) return
  // Output to a file is a log, whose readers are not meant to have the key.
  const isFile = fstatSync(process.stdout.fd).isFile()
  const token = isFile ? undefined : webUi?.sessions.issueToken()
  const page = token && `${endpoint}/#token=${token}`
  const hasModel = config.CHAT_MODEL !== EXTRACTIVE
  const key = isFile ? undefined : newKey
  if (newKey) process.stdout.write(welcome(endpoint, { key, page, hasModel }))
  else if (page) process.stdout.write(`Open it once, within 30 minutes: ${page}\n`)
  if (page && process.stdout.isTTY) openBrowser(page, process.env, log)
}

type Opened = Awaited<ReturnType<typeof open>>

async function openServer(parts: ProcessParts) {
  const config = loadConfig(process.env)
  const log = createLog(config, process.env, parts.activity)
  for (const notice of noticesOf(process.env, cutVariables('.env', process.env))) log.warn(notice)
  if (parts.wentBack !== undefined) {
    log.error({ reason: parts.wentBack }, 'the saved settings do not start; earlier ones are used')
  }
  const telemetry = await startTelemetry(process.env, log)
  const sendFailure = async (error: unknown): Promise<never> => {
    await telemetry?.fail(error)
    throw error
  }
  const build = async () => {
    await using opened = new AsyncDisposableStack()
    const composition = await compose(config, log, (error) => endAfter(error, log), parts)
    opened.defer(composition.close)
    const { app, webUi } = await openApp(config, log, ({ buildApp }, options) =>
      buildApp(composition.services, { ...options, isTraced: telemetry?.isTraced ?? false }),
    )
    opened.defer(() => app.close())
    const { start, warn } = composition
    return { app, webUi, start, warn, opened: opened.move() }
  }
  const { app, webUi, start, warn, opened } = await build().catch(sendFailure)
  const close = async () => {
    await opened.disposeAsync()
    await telemetry?.close()
  }
  return {
    config,
    log,
    app,
    webUi,
    start: () => start().catch(sendFailure),
    warn,
    close,
    isWhole: true,
    isBefore: parts.wentBack !== undefined,
  }
}

async function openIdle(parts: ProcessParts, phase: Phase, backError?: unknown) {
  // If the environment has no valid key, a random one that nobody knows.
  const config = loadLenientConfig(process.env, makeKey())
  const log = createLog(config, process.env, parts.activity)
  if (backError) log.error({ err: backError }, 'the previous settings do not start either')
  log.warn({ state: phase.state }, 'the server is not running; the web UI and /admin show why')
  const services = await composeIdle(config, log, phase, parts)
  const { app, webUi } = await openApp(config, log, ({ buildIdleApp }, options) =>
    buildIdleApp(services, options),
  )
  const idle = async () => undefined
  const close = () => app.close()
  const is = { isWhole: false, isBefore: false }
  return { config, log, app, webUi, start: idle, warn: idle, close, ...is }
}

const Manifest = z.object({ version: z.string() })

async function openApp(
  config: Config,
  log: ReturnType<typeof createLog>,
  build: (app: typeof import('./app.ts'), options: AppOptions) => Promise<FastifyInstance>,
) {
  const text = await readFile(resolve(ROOT, 'package.json'), 'utf8')
  const { version } = Manifest.parse(JSON.parse(text))
  const webUi = await openWebUi(config, resolve(ROOT, 'ui'), log)
  // Imported only now, while a worker thread loads the index.
  const app = await build(await import('./app.ts'), {
    log,
    version,
    webUi,
    bodyLimit: config.BODY_LIMIT,
    serverApiKey: config.SERVER_API_KEY,
    corsOrigin: config.CORS_ORIGIN,
    publicUrl: config.PUBLIC_URL,
    outboundAllow: config.OUTBOUND_ALLOW,
    trustProxy: config.TRUST_PROXY,
    shutdownGraceMs: config.SHUTDOWN_GRACE * 1_000,
  })
  return { app, webUi }
}

function endAfter(error: Error, log: ReturnType<typeof createLog>): void {
  log.fatal(
    { err: error },
    'a vital part has failed; the process ends, nothing acknowledged is lost',
  )
  process.exit(1)
}

async function runCommand(command: Command): Promise<void> {
  loadEnvironment({ ...process.env })
  process.exitCode = await command({
    parameters: process.argv.slice(3),
    environment: process.env,
    config: () => loadConfig(process.env),
    createLog: (config) => createLog(config, process.env),
    stderr: process.stderr,
    signal: stopSignal(() => new Error('Interrupted: run the command again')),
  })
}

const listenTextResolver = (address: string) =>
  `listening at ${address}, reference at ${address}/reference, base URL for OpenAI clients ${address}/openai/v1`

/** Sets the environment to `fixed` and the variables of .env, as it is now. */
function loadEnvironment(fixed: NodeJS.ProcessEnv): void {
  const file = {}
  loadEnvFile('.env', file)
  setEnvironment(settingsFrom(fixed, file))
  neverShow(secretsInLog(process.env))
}

function setEnvironment(variables: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name]
  Object.assign(process.env, variables)
}

/**
 * Closes when asked to stop or to restart. Resolves with how to start again, if at all: a stop signal that arrives while
 * closing wins.
 */
async function closeOn(
  stop: AbortSignal,
  next: AbortSignal,
  { SHUTDOWN_GRACE }: Config,
  log: ReturnType<typeof createLog>,
  close: () => Promise<void>,
): Promise<Phase | undefined> {
  const either = AbortSignal.any([stop, next])
  if (!either.aborted) await once(either, 'abort')
  const phase: Phase | undefined = next.reason
  const cause = stop.aborted
    ? `${stop.reason.signal}: shutting down`
    : CLOSING[phase?.state ?? 'running']
  log.info(`${cause}; a second signal ends the process immediately`)
  const late = () => {
    log.error('the shutdown took too long; the process ends, nothing acknowledged is lost')
    process.exit(1)
  }
  const limit = setTimeout(late, SHUTDOWN_GRACE * 1_000 + CLOSING_MS).unref()
  try {
    await close()
    log.info('closed')
  } catch (error) {
    log.error({ err: error }, 'closing failed')
    if (stop.aborted) process.exitCode = 1
  }
  if (stop.aborted) return undefined
  clearTimeout(limit)
  return next.reason
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${hideSecrets(wordsOf(error))}\n`)
  process.exit(error instanceof StoppedEarly ? 0 : 1)
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? explain(error) : String(error)
}

/** Errors that the operator can fix are reported by their message; all others keep their stack. */
function explain(error: Error): string {
  const wrong = explainListening(error) ?? explainPath(error)
  if (wrong) return wrong
  const isForOperator = error instanceof SetupError || OPERATOR_ERRORS.includes(error.name)
  if (!isForOperator) return error.stack ?? error.message
  const { cause } = error
  // Add the operating system's reason, such as a missing permission.
  return cause instanceof Error && 'syscall' in cause
    ? `${error.message}: ${cause.message}`
    : error.message
}
