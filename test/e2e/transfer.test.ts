import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseEnv } from 'node:util'
import { describe, expect, it } from 'vitest'
import { checkBackupFile } from '../../src/documents/transfer/backup-file.ts'
import { verifies } from '../requirements.ts'
import { isLong, onlyLong } from '../support/long.ts'
import { startScriptedEmbedder } from '../support/scripted-embedder.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt } from '../support/server.ts'
import {
  defaults,
  type Exit,
  type Launched,
  launch,
  MAIN,
  type ServerProcess,
  startServerProcess,
} from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'
import { textReply } from '../support/upstream-replies.ts'
import { fillWhole, seenWhole } from '../support/whole-server.ts'

const DONE: Exit = { code: 0, signal: null }
const FAILED: Exit = { code: 1, signal: null }
/** A backup and a restore of little data take about a second, most of it the start of the process. */
const KILLS = isLong ? 10 : 1
const KILL_MS = 1_500
const { signal } = new AbortController()

function run(directory: string, environment: Record<string, string>, ...command: string[]) {
  return launch({
    directory,
    environment: { ...defaults(), ...environment },
    command: [process.execPath, MAIN, ...command],
  })
}

const LATE = 9
const lateDocument = (n: number) => `/documents/late-${n % LATE}`
/** Whether a document was there before the backup began. */
const isEarly = (id: string) => !id.startsWith('late-')

async function startWhole() {
  const embedder = await startScriptedEmbedder()
  const upstream = await startScriptedUpstream()
  upstream.always(textReply('Fuel and four wheels [1].'))
  const environment = {
    ...modelAt(upstream),
    EMBEDDING_MODEL: 'model-a',
    EMBEDDING_BASE_URL: embedder.url,
    EMBEDDING_API_KEY: 'any-key-1234',
  }
  const from = await startServerProcess(environment)
  await fillWhole(from)
  return { from, environment, embedder }
}

/** Kills a command at a random moment. Returns how it ended. */
async function kill(launched: Launched): Promise<Exit> {
  await pause(Math.random() * KILL_MS)
  launched.send('SIGKILL')
  return launched.exited
}

/** A backup after some that were killed, none of which has left half a file under its name. */
async function backupWhileWriting(from: ServerProcess, environment: Record<string, string>) {
  const folder = await temporaryDirectory()
  for (let n = 0; n < KILLS; n += 1) {
    await kill(run(from.directory, environment, 'backup', join(folder, `killed-${n}.zst`)))
  }
  const file = join(folder, 'whole.zst')
  const backup = run(from.directory, environment, 'backup', file)
  const over = new AbortController()
  void backup.exited.then(() => over.abort())
  for (let n = 0; !over.signal.aborted; n += 1) {
    await from.request(lateDocument(n), { method: 'PUT', body: { text: `Late ${n}` } })
  }
  expect(await backup.exited).toEqual(DONE)
  expect(backup.stderr).toMatch(/was read back.*keep SERVER_API_KEY, .*EMBEDDING_API_KEY/)
  const names = (await readdir(folder)).filter((name) => name.endsWith('.zst'))
  for (const name of names) await checkBackupFile(join(folder, name), signal)
  return file
}

/** Restores, after some attempts that were killed, unless one of them has got to the end. */
async function restoreKilled(directory: string, environment: Record<string, string>, file: string) {
  const isThere = async () => {
    const names: string[] = await readdir(join(directory, 'data')).catch(() => [])
    return names.includes('agent-server.db')
  }
  for (let n = 0; n < KILLS && !(await isThere()); n += 1) {
    await kill(run(directory, environment, 'restore', file))
  }
  if (await isThere()) return
  const restore = run(directory, environment, 'restore', file)
  expect(await restore.exited).toEqual(DONE)
  expect(restore.stderr).toMatch(/Restored .*\nNext: npm start/)
}

describe('npm run backup and npm run restore', () => {
  it.each([
    ['restore', 'data.zst', 'data.zst does not exist'],
    ['backup', 'nowhere/data.zst', 'nowhere does not exist'],
    ['restore', '.', '. is a folder: nothing was restored'],
    ['restore', 'file/data.zst', 'file/data.zst is not inside a folder'],
    ['backup', 'file/data.zst', 'file/data.zst is not inside a folder'],
  ])('say in words what is wrong with a path: %s %s', onlyLong, async (command, path, words) => {
    const directory = await temporaryDirectory()
    await writeFile(join(directory, 'file'), '')
    if (command === 'backup') {
      const server = await startServerProcess({}, { directory })
      await server.stop()
    }
    const ended = run(directory, {}, command, path)
    expect(await ended.exited).toEqual(FAILED)
    expect(ended.stderr).toBe(`${words}\n`)
  })

  it('carry everything from a server that is written to into an empty directory, also when they are killed, and embed nothing again', {
    ...verifies('transfer.round-trip'),
    ...onlyLong,
    timeout: 180_000,
  }, async () => {
    const { from, environment, embedder } = await startWhole()
    const before = await seenWhole(from, isEarly)
    const file = await backupWhileWriting(from, environment)
    await from.stop()
    const embedded = embedder.requests.length
    const directory = await temporaryDirectory()
    await restoreKilled(directory, environment, file)
    expect(embedder.requests).toHaveLength(embedded)
    const to = await startServerProcess(environment, { directory })
    for (let n = 0; n < LATE; n += 1) await to.request(lateDocument(n), { method: 'DELETE' })
    expect(await seenWhole(to, isEarly)).toEqual(before)
    await to.ingest({ text: 'A document that comes later.' })
  })

  it('refuse what does not fit, or is damaged, and change nothing', {
    ...verifies('transfer.refused'),
    ...onlyLong,
    timeout: 180_000,
  }, async () => {
    const from = await startServerProcess()
    await from.ingest({ text: 'Some words.' })
    const file = join(await temporaryDirectory(), 'backup.zst')
    expect(await run(from.directory, {}, 'backup', file).exited).toEqual(DONE)
    const refused = async (directory: string, path = file) => {
      const restoring = run(directory, {}, 'restore', path)
      expect(await restoring.exited).toEqual(FAILED)
      return restoring.stderr
    }
    expect(await refused(from.directory)).toMatch(/^Another server is using/)
    await from.stop()
    expect(await refused(from.directory)).toMatch(/^There is data already \(.*documents.*\)/)

    const again = run(from.directory, {}, 'backup', file)
    expect(await again.exited).toEqual(FAILED)
    expect(again.stderr).toMatch(/^The file .* already exists\n$/)

    const whole = await readFile(file)
    const half = `${file}.half`
    await writeFile(half, whole.subarray(0, whole.length / 2))
    const empty = await temporaryDirectory()
    expect(await refused(empty, half)).toMatch(/after line \d+.*nothing was restored/)
    expect(await readdir(join(empty, 'data'))).toEqual(['agent-server.lock'])
  })

  it('carry over what belongs to the server, touch nothing of the machine, and say what is left to do', {
    timeout: 180_000,
  }, async () => {
    const from = await startServerProcess()
    const original = {
      ...defaults(),
      TOP_K: '7',
      CORS_ORIGIN: 'https://a.example, https://b.example',
      CHAT_API_KEY: 'any-key-1234',
      WATCH_FOLDERS: 'inbox',
      TRUST_PROXY: '1',
      // No quotation mark is left for it.
      OIDC_CLIENT_ID: `'"\`#`,
    }
    await from.ingest({ text: 'Some words.' })
    await from.stop()
    const agent = '{ "prompt": "Sei höflich." }'
    await writeFile(join(from.directory, 'agent.json'), Buffer.from(`\uFEFF${agent}`, 'utf16le'))
    await mkdir(join(from.directory, 'data/agent-versions/folder'), { recursive: true })
    await writeFile(join(from.directory, 'data/agent-versions/.DS_Store'), 'Bud1')
    const file = join(await temporaryDirectory(), 'backup.zst')
    const backup = run(from.directory, original, 'backup', file)
    expect([(await backup.exited).code, backup.stderr]).toEqual([0, backup.stderr])

    // Nobody listens at the address of the index, and the agent's folder takes no file.
    const directory = await temporaryDirectory()
    await writeFile(join(directory, 'taken'), '')
    const place = { AGENT_CONFIG: 'taken/agent.json', QDRANT_URL: 'http://127.0.0.1:1' }
    const restore = run(directory, place, 'restore', file)
    expect([(await restore.exited).code, restore.stderr]).toEqual([0, restore.stderr])
    expect(restore.stderr).toMatch(/^Restored 1 document with .*, into .*data$/m)
    expect(restore.stderr).toMatch(/^taken\/agent.json .* is data\/restored-agent.json$/m)
    expect(restore.stderr).toMatch(/^Copy from data\/restored.env into .env: .*CORS_ORIGIN.*TOP_K/m)
    expect(restore.stderr).toMatch(/for this machine; .*: .*TRUST_PROXY.*WATCH_FOLDERS/)
    expect(restore.stderr).toMatch(/as they were.*: CHAT_API_KEY$/m)
    expect(restore.stderr).toMatch(/^Next, .*: npm run rebuild-index, then npm start/m)
    expect((await readdir(directory)).toSorted()).toEqual(['data', 'taken'])
    const data = join(directory, 'data')
    expect(await readFile(join(data, 'restored-agent.json'), 'utf8')).toBe(agent)
    const settings = await readFile(join(data, 'restored.env'), 'utf8')
    const { TOP_K, CORS_ORIGIN } = original
    expect(parseEnv(settings)).toMatchObject({ TOP_K, CORS_ORIGIN })
    expect(Object.keys(parseEnv(settings))).not.toContain('WATCH_FOLDERS')
    expect(settings).toContain('# WATCH_FOLDERS: "inbox"\n')
    expect(settings).toContain(`# OIDC_CLIENT_ID: ${JSON.stringify(original.OIDC_CLIENT_ID)}\n`)
    expect((await stat(join(data, 'restored.env'))).mode & 0o777).toBe(0o600)

    // An agent that is there stays.
    const other = await temporaryDirectory()
    await writeFile(join(other, 'agent.json'), '{}')
    const beside = run(other, {}, 'restore', file)
    expect([(await beside.exited).code, beside.stderr]).toEqual([0, beside.stderr])
    expect(beside.stderr).toMatch(/^.\/agent.json has other content.* data\/restored-agent.json$/m)
    expect(await readFile(join(other, 'agent.json'), 'utf8')).toBe('{}')

    for (const mistake of [
      { DATABASE_URL: 'postgress://somebody:hidden@127.0.0.1/agent' },
      { DATABSE_URL: 'postgres://somebody:hidden@127.0.0.1/agent' },
      { QDRANT_URL: 'nowhere' },
    ]) {
      const empty = await temporaryDirectory()
      const refused = run(empty, mistake, 'restore', file)
      expect((await refused.exited).code).toBe(2)
      expect(refused.stderr).toContain(`  ${Object.keys(mistake)[0]} `)
      expect(refused.stderr).not.toContain('hidden')
      expect(await readdir(empty)).toEqual([])
    }
  })

  it.each(['backup', 'restore'])('say how %s is called', onlyLong, async (name) => {
    const running = run(await temporaryDirectory(), {}, name)
    expect(await running.exited).toEqual({ code: 2, signal: null })
    expect(running.stderr).toBe(`Usage: npm run ${name} -- <file.zst>\n`)
  })
})
