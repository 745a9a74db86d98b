import { randomUUID } from 'node:crypto'
import { mkdir, readdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isSecret, variablesIn } from '@agent-server/lib/environment.ts'
import { isMissing, readIfPresent, replaceFile } from '@agent-server/lib/files.ts'
import { rebuildIndex } from '../compose/rebuild.ts'
import { checkDatabase, openBackup } from '../compose/stores.ts'
import { type Config, loadLenientConfig, VARIABLE_NAMES } from '../config.ts'
import {
  type BackupHeader,
  checkBackupFile,
  readBackupFile,
  type Surroundings,
  writeBackupFile,
} from '../documents/transfer/backup-file.ts'
import { indexDriver, SHARED_INDEXES } from '../index-drivers.ts'
import { AgentVersions } from '../operator/admin/agent-versions.ts'
import { digestOf } from '../operator/admin/edited-file.ts'
import { editEnvironment } from '../operator/admin/env-file.ts'
import type { BackupRecord, BackupStart } from '../stores/backup.ts'
import { PROGRAM } from '../stores/program.ts'
import { type Command, createProgressBar, type ProgressTarget } from './command.ts'

const AGENT = 'agent.json'
const VERSIONS = 'agent-versions'
/** They belong to the machine, not to the server. */
const OF_THE_PLACE = new Set([
  'AGENT_CONFIG',
  'DATA_DIR',
  'DATABASE_URL',
  'HOST',
  'PORT',
  ...SHARED_INDEXES.map(({ address }) => address),
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
  // A damaged database is said, not copied.
  await checkDatabase(config)
  const backup = await openBackup(config)
  const surroundings = await surroundingsOf(config, environment)
  let rows: Readonly<Record<string, number>> = {}
  const watched = counted(backup.read(signal), stderr, 'backing up', (start) => {
    rows = start.rows
  })
  await writeBackupFile(file, surroundings, watched, signal)
  const { size } = await stat(file)
  stderr.write(
    `${file} holds ${describe(rows)} and ${Object.keys(surroundings.files).length} files of the agent (${inMegabytes(size)}), and was read back. It holds no secrets of the settings: keep ${surroundings.secrets.join(', ')} elsewhere.\n`,
  )
  return 0
}

/** `npm run restore -- <file>`: reads a whole backup into an empty place. */
export const runRestore: Command = async ({
  parameters,
  environment,
  createLog,
  stderr,
  signal,
}) => {
  const file = onlyFile(parameters)
  if (file === undefined) return refuse(stderr, 'Usage: npm run restore -- <file.zst>')
  // Settings may be wrong or missing until those of the backup are there.
  const config = loadLenientConfig(environment, randomUUID())
  const backup = await openBackup(config)
  await backup.refuseData()
  const header = await checkBackupFile(file, signal)
  const records = counted(readBackupFile(file, signal), stderr, 'restoring')
  await backup.write(records, () => restoreFiles(header, config, environment), signal)
  stderr.write(
    `Restored ${describe(header.rows)}, as of ${header.createdAt}, written by version ${header.program}\n`,
  )
  const driver = indexDriver(config)
  if (driver.createNext) {
    using bar = createProgressBar(stderr, 'indexing')
    stderr.write('If this is interrupted, run npm run rebuild-index\n')
    const log = createLog({ ...config, LOG_LEVEL: 'warn' })
    await rebuildIndex({ config, log, progress: bar.update }, signal)
  }
  const missing = header.secrets.filter((name) => !environment[name])
  if (missing.length > 0) {
    stderr.write(
      `Set these in .env as they were, since a backup holds no secrets: ${missing.join(', ')}\n`,
    )
  }
  stderr.write('Next: npm start, then npm run doctor\n')
  return 0
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
  const settings = names.filter((name) => !secrets.includes(name) && !OF_THE_PLACE.has(name))
  return {
    program: PROGRAM,
    settings: Object.fromEntries(settings.map((name) => [name, environment[name] ?? ''])),
    secrets: [...new Set([...secrets, ...referred])].filter((name) => !OF_THE_PLACE.has(name)),
    files,
  }
}

async function filesOf({ AGENT_CONFIG, DATA_DIR }: Config): Promise<Record<string, string>> {
  const folder = join(DATA_DIR, VERSIONS)
  const names = await readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  const paths = [
    [AGENT, AGENT_CONFIG],
    ...names.map((name) => [`${VERSIONS}/${name}`, join(folder, name)]),
  ]
  const files: Record<string, string> = {}
  for (const [name = '', path = ''] of paths) {
    const content = await readIfPresent(path)
    if (content) files[name] = content.toString()
  }
  return files
}

/** The agent with its versions, and the settings that are not set here. What was there becomes a former version. */
async function restoreFiles(
  { files, settings }: BackupHeader,
  { AGENT_CONFIG, DATA_DIR }: Config,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    if (name === AGENT) continue
    const path = join(DATA_DIR, name)
    await mkdir(dirname(path), { recursive: true })
    await replaceFile(path, text, PRIVATE)
  }
  const agent = files[AGENT]
  const present = (await readIfPresent(AGENT_CONFIG))?.toString()
  if (agent !== undefined && agent !== present) {
    if (present !== undefined) {
      const versions = new AgentVersions(join(DATA_DIR, VERSIONS))
      await versions.keep({ text: present, digest: digestOf(present), found: true })
    }
    await replaceFile(AGENT_CONFIG, agent, PRIVATE)
  }
  const unset = Object.entries(settings).filter(([name]) => !environment[name])
  if (unset.length === 0) return
  const path = resolve('.env')
  const before = (await readIfPresent(path))?.toString() ?? ''
  await replaceFile(path, editEnvironment(before, new Map(unset), new Map()), PRIVATE)
}

const describe = ({
  documents = 0,
  chunks = 0,
  conversations = 0,
  ...others
}: Readonly<Record<string, number>>) => {
  const rest = Object.values(others).reduce((sum, rows) => sum + rows, 0)
  return `${documents} documents with ${chunks} chunks, ${conversations} conversations, ${rest} other rows`
}

const inMegabytes = (bytes: number) => `${(bytes / 1_000_000).toFixed(1)} MB`

/** Passes records on, and shows the progress. */
async function* counted(
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
