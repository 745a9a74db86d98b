import { randomUUID } from 'node:crypto'
import { access, constants, mkdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { isSecret, variablesIn } from '@agent-server/lib/environment.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { readIfPresent, replaceFile } from '@agent-server/lib/files.ts'
import { codeOf } from '@agent-server/lib/system-error.ts'
import { counted } from '@agent-server/lib/text/counted.ts'
import { writtenText } from '@agent-server/lib/text/written-text.ts'
import {
  type BackupRecord,
  type BackupStart,
  checkDatabase,
  openBackup,
  PROGRAM,
} from '@agent-server/stores'
import { storePlace } from '../compose/stores.ts'
import {
  type Config,
  ConfigError,
  findMistakes,
  findMistyped,
  loadLenientConfig,
  mistypedAs,
  presentName,
  settingsFrom,
  VARIABLE_NAMES,
} from '../config.ts'
import {
  type BackupHeader,
  checkBackupFile,
  readBackupFile,
  type Surroundings,
  writeBackupFile,
} from '../documents/transfer/backup-file.ts'
import { INDEX_VARIABLES, indexDriver } from '../features.ts'
import { AgentVersions } from '../operator/admin/agent-versions.ts'
import { editEnvironment } from '../operator/admin/env-file.ts'
import { type Command, createProgressBar, type ProgressTarget } from './command.ts'

const AGENT = 'agent.json'
const VERSIONS = 'agent-versions'
const RESTORED_AGENT = 'restored-agent.json'
const RESTORED_SETTINGS = 'restored.env'
/** Where data are: a restore goes nowhere else because one of them is mistyped. */
const PLACES = ['AGENT_CONFIG', 'DATA_DIR', 'DATABASE_URL', ...Object.keys(INDEX_VARIABLES)]
/** They belong to the machine, not to the server. */
const OF_THE_MACHINE = new Set([
  ...PLACES,
  'DATABASE_POOL',
  'DOCKER_HOST',
  'HOST',
  'PORT',
  'PUBLIC_URL',
  'TRUST_PROXY',
  'WATCH_FOLDERS',
])
const PRIVATE = 0o600

/** `npm run backup -- <file>`: writes everything that would be lost, while the server may keep running. */
export const runBackup: Command = async ({
  parameters,
  config: load,
  environment,
  stderr,
  signal,
}) => {
  const file = onlyFile(parameters)
  if (file === undefined) return refuse(stderr, 'Usage: npm run backup -- <file.zst>')
  const config = load()
  // A damaged document is reported, not copied.
  const { words, isWarning } = await checkDatabase(
    storePlace(config),
    Number.POSITIVE_INFINITY,
    signal,
  )
  if (isWarning) stderr.write(`The database ${words}\n`)
  const backup = await openBackup(storePlace(config))
  const surroundings = await surroundingsOf(config, environment)
  let rows: Readonly<Record<string, number>> = {}
  const watched = watching(backup.read(signal), stderr, 'backing up', (start) => {
    rows = start.rows
  })
  await writeBackupFile(file, surroundings, watched, signal)
  const { size } = await stat(file)
  stderr.write(
    `${file} holds ${describe(rows)} and ${counted(Object.keys(surroundings.files).length, 'file')} of the agent (${inMegabytes(size)}), and was read back. It holds no secrets of the settings: keep ${surroundings.secrets.join(', ')} elsewhere.\n`,
  )
  return 0
}

/**
 * `npm run restore -- <file>`: reads a whole backup into an empty place. Writes nothing outside of it but an agent
 * configuration where there is none, as the rest may be read-only, and an index may be another server's.
 */
export const runRestore: Command = async ({ parameters, environment, stderr, signal }) => {
  const file = onlyFile(parameters)
  if (file === undefined) return refuse(stderr, 'Usage: npm run restore -- <file.zst>')
  const mistakes = mistakesInPlaces(environment)
  if (mistakes.length > 0) return refuse(stderr, new ConfigError(mistakes).message)
  // Other settings may be wrong or missing until those of the backup are there.
  const config = loadLenientConfig(environment, randomUUID())
  const backup = await openBackup(storePlace(config))
  await backup.refuseData()
  // What cannot be written shows now, not after all rows.
  await mkdir(config.DATA_DIR, { recursive: true })
  await access(config.DATA_DIR, constants.W_OK)
  const header = await checkBackupFile(file, signal)
  const records = watching(readBackupFile(file, signal), stderr, 'restoring')
  let advice: readonly string[] = []
  const restore = async () => {
    advice = await restoreFiles(header, config, environment)
  }
  await backup.write(records, restore, signal)
  const lines = [
    `Restored ${describe(header.rows)}, as of ${header.createdAt}, written by version ${header.program}, into ${placeOf(config)}`,
    ...advice,
    indexDriver(config).createNext
      ? 'Next, with these settings in place, and an index that no other server uses: npm run rebuild-index, then npm start, then npm run doctor'
      : 'Next: npm start, then npm run doctor',
  ]
  stderr.write(`${lines.join('\n')}\n`)
  return 0
}

function mistakesInPlaces(environment: NodeJS.ProcessEnv) {
  const mistyped = findMistyped(environment).filter(({ intended }) => PLACES.includes(intended))
  return [
    ...findMistakes(environment).filter(({ field }) => PLACES.includes(field)),
    ...mistyped.map(({ name, intended }) => ({ field: name, message: mistypedAs(intended) })),
  ]
}

function placeOf({ DATABASE_URL, DATA_DIR }: Config): string {
  if (DATABASE_URL === undefined) return resolve(DATA_DIR)
  const { host, pathname } = new URL(DATABASE_URL)
  return `the PostgreSQL database ${host}${pathname}`
}

function onlyFile([file, ...more]: readonly string[]): string | undefined {
  return more.length > 0 || file?.startsWith('-') ? undefined : file
}

function refuse(stderr: ProgressTarget, usage: string): number {
  stderr.write(`${usage}\n`)
  return 2
}

async function surroundingsOf(
  config: Config,
  environment: NodeJS.ProcessEnv,
): Promise<Surroundings> {
  const files = await filesOf(config)
  const names = VARIABLE_NAMES.filter((name) => environment[name])
  const secrets = names.filter((name) => isSecret(name, environment[name]))
  const referred = variablesIn(files[AGENT] ?? '').filter((name) => environment[name])
  const settings = names.filter((name) => !secrets.includes(name))
  return {
    program: PROGRAM,
    settings: Object.fromEntries(settings.map((name) => [name, environment[name] ?? ''])),
    secrets: [...new Set([...secrets, ...referred])].filter((name) => !OF_THE_MACHINE.has(name)),
    files,
  }
}

async function filesOf({ AGENT_CONFIG, DATA_DIR }: Config): Promise<Record<string, string>> {
  const files: Record<string, string> = {}
  const agent = await readIfPresent(AGENT_CONFIG)
  if (agent) files[AGENT] = writtenText(agent)
  for (const { file } of await new AgentVersions(join(DATA_DIR, VERSIONS)).list()) {
    files[`${VERSIONS}/${basename(file)}`] = await readFile(file, 'utf8')
  }
  return files
}

/** The agent with its versions, and the settings that are not set here. Returns what is left to do, as sentences. */
async function restoreFiles(
  { files, settings, secrets }: BackupHeader,
  config: Config,
  environment: NodeJS.ProcessEnv,
): Promise<string[]> {
  const { [AGENT]: agent, ...versions } = files
  for (const [name, text] of Object.entries(versions)) {
    const path = join(config.DATA_DIR, name)
    await mkdir(dirname(path), { recursive: true })
    await replaceFile(path, text, PRIVATE)
  }
  const advice = agent === undefined ? [] : await restoreAgent(agent, config)

  const unset = Object.entries(settingsFrom(settings)).flatMap(([name, value = '']) =>
    VARIABLE_NAMES.includes(name) && !environment[name] ? [[name, value] as const] : [],
  )
  const { own = [], machine = [] } = Object.groupBy(unset, ([name]) =>
    OF_THE_MACHINE.has(name) ? 'machine' : 'own',
  )
  // What the agent refers to keeps the name by which it does.
  const referred = variablesIn(agent ?? '')
  const names = secrets.map((name) => (referred.includes(name) ? name : presentName(name)))
  const missing = [...new Set(names)].filter((name) => !environment[name])
  if (unset.length > 0) {
    const path = join(config.DATA_DIR, RESTORED_SETTINGS)
    await replaceFile(path, environmentOf(own, machine), PRIVATE)
    if (own.length > 0) advice.push(`Copy from ${path} into .env: ${namesOf(own)}`)
    if (machine.length > 0) {
      advice.push(`Set these for this machine; ${path} has the former values: ${namesOf(machine)}`)
    }
  }
  if (missing.length > 0) {
    advice.push(
      `Set these in .env as they were, since a backup holds no secrets: ${missing.join(', ')}`,
    )
  }
  return advice
}

/** Puts it where there is none, or else into `DATA_DIR`. */
async function restoreAgent(text: string, { AGENT_CONFIG, DATA_DIR }: Config): Promise<string[]> {
  try {
    const present = await readIfPresent(AGENT_CONFIG)
    if (!present) await replaceFile(AGENT_CONFIG, text, PRIVATE)
    if (!present || writtenText(present) === text) return []
  } catch (error) {
    // Any reason of the system, such as a disk that is read-only.
    if (codeOf(error) === undefined) throw error
  }
  const path = join(DATA_DIR, RESTORED_AGENT)
  await replaceFile(path, text, PRIVATE)
  return [
    `${AGENT_CONFIG} has other content, or cannot be written: the agent of the backup is ${path}`,
  ]
}

type Setting = readonly [name: string, value: string]

const namesOf = (settings: readonly Setting[]) => settings.map(([name]) => name).join(', ')

/** The text of a `.env`; what is of the machine, or cannot be written in such a file, is a comment. */
function environmentOf(own: readonly Setting[], machine: readonly Setting[]): string {
  const asComment = ([name, value]: Setting) => `# ${name}: ${JSON.stringify(value)}\n`
  return own.reduce((text, setting) => {
    try {
      return editEnvironment(text, new Map([setting]), new Map())
    } catch (error) {
      if (error instanceof AppError) return text + asComment(setting)
      throw error
    }
  }, machine.map(asComment).join(''))
}

const describe = ({
  documents = 0,
  chunks = 0,
  conversations = 0,
  ...others
}: Readonly<Record<string, number>>) => {
  const rest = Object.values(others).reduce((sum, rows) => sum + rows, 0)
  return `${counted(documents, 'document')} with ${counted(chunks, 'chunk')}, ${counted(conversations, 'conversation')}, ${counted(rest, 'other row')}`
}

const inMegabytes = (bytes: number) => `${(bytes / 1_000_000).toFixed(1)} MB`

/** Passes records on, and shows the progress. */
async function* watching(
  records: AsyncIterable<BackupRecord>,
  stderr: ProgressTarget,
  label: string,
  onStart: (start: BackupStart) => void = () => undefined,
): AsyncGenerator<BackupRecord> {
  using bar = createProgressBar(stderr, label)
  let [done, total] = [0, 0]
  for await (const record of records) {
    if (record.kind === 'start') {
      onStart(record)
      total = Object.values(record.rows).reduce((sum, rows) => sum + rows, 0)
    } else done += record.rows.length
    bar.update(done, total, 'rows')
    yield record
  }
}
