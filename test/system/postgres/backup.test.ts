import { hash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { DocumentCreated } from '@agent-server/schemas/document.ts'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkPostgres } from '../../../packages/stores/src/postgres/check-database.ts'
import { runBackup, runRestore } from '../../../src/commands/backup.ts'
import type { Command } from '../../../src/commands/command.ts'
import { runRebuildIndex } from '../../../src/commands/rebuild.ts'
import { loadConfig } from '../../../src/config.ts'
import { sendFile } from '../../support/forms.ts'
import { startQdrant } from '../../support/qdrant/nodes.ts'
import { startScriptedUpstream } from '../../support/scripted-upstream.ts'
import { modelAt, startServer, TEST_KEY } from '../../support/server.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'
import { textReply } from '../../support/upstream-replies.ts'
import { fillWhole, seenWhole } from '../../support/whole-server.ts'
import { createPostgresData, hasPostgres, runSql } from './store-data.ts'

const { signal } = new AbortController()

async function run(command: Command, environment: Record<string, string>, file?: string) {
  let output = ''
  const stderr = {
    write(text: string) {
      output += text
    },
  }
  const given = { SERVER_API_KEY: TEST_KEY, CHAT_MODEL: 'extractive', ...environment }
  const createLog = () => pino({ level: 'silent' })
  const config = () => loadConfig(given)
  const code = await command({
    parameters: file === undefined ? [] : [file],
    environment: given,
    config,
    createLog,
    stderr,
    signal,
  })
  expect([code, output]).toEqual([0, output])
  return output
}

async function places() {
  const directory = await temporaryDirectory()
  const qdrant = await startQdrant()
  const data = await createPostgresData()
  onTestFinished(() => data.remove())
  const files = { AGENT_CONFIG: join(directory, 'agent.json'), DATA_DIR: directory }
  return { ...files, DATABASE_URL: data.url, QDRANT_URL: qdrant.url }
}

async function onDisk() {
  const directory = await temporaryDirectory()
  return { AGENT_CONFIG: join(directory, 'agent.json'), DATA_DIR: directory }
}

describe.skipIf(!hasPostgres)('Backup and restore (needs PostgreSQL)', () => {
  it('carry everything from one database into another, from there to a disk, and back', async () => {
    const upstream = await startScriptedUpstream()
    upstream.always(textReply('Fuel and four wheels [1].'))
    const chat = modelAt(upstream)
    const folder = await temporaryDirectory()
    const all = [await places(), await places(), await onDisk(), await places()]
    let before: Awaited<ReturnType<typeof seenWhole>> | undefined
    for (const [n, place] of all.entries()) {
      const environment = { ...chat, ...place }
      if (n > 0) {
        await run(runRestore, environment, join(folder, `${n - 1}.zst`))
        if ('QDRANT_URL' in place) await run(runRebuildIndex, environment)
      }
      const server = await startServer(environment)
      if (n === 0) await fillWhole(server)
      before ??= await seenWhole(server)
      expect(await seenWhole(server)).toEqual(before)
      await run(runBackup, environment, join(folder, `${n}.zst`))
      await server.ingest({ text: `Later than the backup ${n}.` })
      await server.close()
    }
  })

  it('is refused where there is data', async () => {
    const place = await places()
    const server = await startServer(place)
    await server.ingest({ text: 'Words' })
    const file = join(await temporaryDirectory(), 'one.zst')
    await run(runBackup, place, file)
    await server.close()
    await expect(run(runRestore, place, file)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(/There is data already \(.*documents/),
    })
  })

  it('is refused while a server runs, though it holds nothing', async () => {
    const [from, to] = [await places(), await places()]
    const file = join(await temporaryDirectory(), 'one.zst')
    await (await startServer(from)).close()
    await run(runBackup, from, file)
    const server = await startServer(to)
    const named = /A server is running on this database: .*\(session (\d+) of .+, since \d{4}-.*Z\)/
    const running = expect.objectContaining({
      code: 'store_unavailable',
      message: expect.stringMatching(named),
    })
    await expect.poll(() => run(runRestore, to, file).catch((error) => error)).toEqual(running)
    const said = String(await run(runRestore, to, file).catch((error) => error))
    const [session] = await runSql(
      to.DATABASE_URL,
      'SELECT application_name AS name FROM pg_stat_activity WHERE pid = $1',
      [named.exec(said)?.[1]],
    )
    expect(session).toEqual({ name: 'agent-server' })
    await server.close()
    await run(runRestore, to, file)
  })

  it.each<[string, string, 'file' | 'text']>([
    ['a text', `UPDATE agent_server.contents SET text = 'Bats' WHERE text = 'Owls'`, 'text'],
    ['a file', `UPDATE agent_server.file_pieces SET bytes = 'x'`, 'file'],
    ['the pieces of a file', 'DELETE FROM agent_server.file_pieces', 'file'],
  ])('names the document when %s was damaged, and makes no backup', async (_, damage, what) => {
    const place = await places()
    const server = await startServer(place)
    await server.ingest({ text: 'Herons' })
    const sent = await sendFile(server, { name: 'rivers.md', bytes: '# Rivers' })
    const { id: file } = DocumentCreated.parse(await sent.json())
    const id = { file, text: await server.ingest({ text: 'Owls' }) }[what]
    await runSql(place.DATABASE_URL, damage)
    const folder = await temporaryDirectory()
    await expect(run(runBackup, place, join(folder, 'one.zst'))).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining(`not as they were stored: ${id}. Send them again`),
    })
    expect(await readdir(folder)).toEqual([])
    await server.request(`/documents/${id}`, { method: 'DELETE' })
    await run(runBackup, place, join(folder, 'one.zst'))
    await server.close()
  })

  it('takes texts of any characters and long files for whole', async () => {
    const data = await createPostgresData()
    onTestFinished(() => data.remove())
    const store = await data.open()
    const texts = ['Owls \0 hoot', 'Owls \uFDD0 hoot', '\uFDD00', 'Owls \uD800 hoot', '']
    for (const [n, text] of texts.entries()) await store.add({ id: `text-${n}`, text })
    const bytes = Buffer.alloc(5 * 2 ** 20 + 7, 'Rivers')
    const staged = await store.stageFile(Readable.from([bytes]))
    const sha256 = hash('sha256', bytes)
    const file = { name: 'rivers.txt', mediaType: 'text/plain', sha256, ...staged }
    await store.add({ id: 'file', text: '', file })
    for (const job of await store.claimJobs(9)) await store.completeJob(job, [])
    const check = () => checkPostgres(data.url, Number.POSITIVE_INFINITY, signal)
    expect(await check()).toEqual({ words: 'is sound' })
    await data.sql(`UPDATE agent_server.file_pieces SET bytes = 'x' WHERE ordinal = 5`)
    await data.sql(
      `UPDATE agent_server.contents SET text = text || 's' WHERE text LIKE U&'%\\FDD01%'`,
    )
    await expect(check()).rejects.toThrow(/these documents .*: file, text-1, text-2\. Send/)
    await store.close()
  })

  it('names an artifact that was damaged, and copies it as it is', async () => {
    const place = await places()
    const data = await createPostgresData()
    onTestFinished(() => data.remove())
    const store = await data.open()
    const bytes = Buffer.from('Bytes.')
    const { id } = await store.artifacts.add({ name: 'a', mediaType: 'text/plain', bytes })
    await data.sql(`UPDATE agent_server.artifacts SET bytes = 'x'`)
    await store.close()
    const file = join(await temporaryDirectory(), 'one.zst')
    expect(await run(runBackup, { ...place, DATABASE_URL: data.url }, file)).toContain(
      `expire by themselves: ${id}\n`,
    )
    await run(runRestore, place, file)
    const [row] = await runSql(place.DATABASE_URL, 'SELECT bytes FROM agent_server.artifacts')
    expect(row).toEqual({ bytes: Buffer.from('x') })
    expect(
      await checkPostgres(data.url, Number.POSITIVE_INFINITY, AbortSignal.abort()).catch(String),
    ).toContain('AbortError')
  })
})
