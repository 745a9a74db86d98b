import { open } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { createSqliteData } from '../../packages/stores/test/sqlite/store-data.ts'
import { runDoctor } from '../../src/commands/doctor.ts'
import { loadConfig } from '../../src/config.ts'
import { onlyLong } from '../support/long.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { MODEL_KEY, modelAt, startServer, TEST_KEY } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

async function examine(environment: Record<string, string>) {
  const said: string[] = []
  const code = await runDoctor({
    parameters: [],
    environment,
    config: () => loadConfig(environment),
    createLog: () => pino({ level: 'silent' }),
    stderr: { isTTY: false, write: (text: string) => void said.push(text) },
    signal: new AbortController().signal,
  })
  return { code, said: said.join('') }
}

const settings = async (port: number) => ({
  SERVER_API_KEY: TEST_KEY,
  CHAT_MODEL: 'extractive',
  DATA_DIR: `${await temporaryDirectory()}/not/yet`,
  PORT: String(port),
})

it('finds all parts of a running server in order, and tells no secret', async () => {
  const { url } = await startServer()
  const { code, said } = await examine(await settings(Number(new URL(url).port)))
  expect(said).toMatch(/^ok +versions +agent-server \d+\.\d+\.\d+, Node\.js \d+\./m)
  expect(said).toMatch(/^ok +settings +SQLite, embedded index, chat model extractive/m)
  expect(said).toMatch(/^ok +file reader +its process starts$/m)
  expect(said).toMatch(/^ok +disk +[\d.]+ GB free in /m)
  expect(said).toMatch(/^ok +database +none yet$/m)
  expect(said).toMatch(/^ok +server +http:\S+ is ready/m)
  expect(said).toMatch(/^ok +store +works \(\d+ ms\)$/m)
  expect(said).toMatch(/^ok +chat model +extractive answers \(\d+ ms\)$/m)
  expect(said).toMatch(/\nEverything works\n$/)
  expect(said).not.toContain(TEST_KEY)
  expect(code).toBe(0)
})

it('says why the chat model does not answer, without its key', onlyLong, async () => {
  const given = modelAt({ url: 'http://127.0.0.1:9/v1' }, { SERVER_API_KEY: TEST_KEY })
  const { url } = await startServer(given, { given })
  const { code, said } = await examine(await settings(Number(new URL(url).port)))
  expect(said).toMatch(
    /^FAILED chat model +scripted does not answer\n +→ .*docs\/reference\/errors\.md/m,
  )
  expect(said).toMatch(/\n1 failed\n$/)
  expect(said).not.toContain(MODEL_KEY)
  expect(code).toBe(1)
})

it('describes the chat model, and warns of models that close soon', onlyLong, async () => {
  const upstream = await startScriptedUpstream()
  const closesOn = new Date(Date.now() + 9 * 86_400_000).toISOString().slice(0, 10)
  upstream.tell({ '/v1/models': { data: [{ id: 'scripted', shutdown_date: closesOn }] } })
  upstream.script(
    textReply('One.', { usage: { prompt_tokens: 6_430, completion_tokens: 2 } }),
    toolCallReply({ name: 'look_up_weather', arguments: { city: 'Oslo' } }),
    textReply('Red.'),
  )
  const given = modelAt(upstream, { SERVER_API_KEY: TEST_KEY })
  const { url } = await startServer(given, { given })
  const { code, said } = await examine(await settings(Number(new URL(url).port)))
  expect(said).toMatch(
    /^ok +chat model +scripted answers \(\d+ ms\): by chat-completions, window of 32768 tokens, calls tools, sees images,.* a first question is 6430 tokens$/m,
  )
  expect(said).toMatch(
    /^WARN +models +The model scripted closes on .* \(in 9 days\): set CHAT_MODEL to another$/m,
  )
  expect(said).toMatch(/\nEverything works\n$/)
  expect(code).toBe(0)
})

it('says that no server runs, and what to do', onlyLong, async () => {
  const { url, close } = await startServer()
  await close()
  const { code, said } = await examine(await settings(Number(new URL(url).port)))
  expect(said).toMatch(/^FAILED server +does not run; port \d+ is free\n +→ run npm start/m)
  expect(said).toMatch(/\n1 failed\n$/)
  expect(code).toBe(1)
})

it('reads the whole database, and says what to do if it is damaged', onlyLong, async () => {
  const data = await createSqliteData()
  const store = await data.open()
  for (let number = 0; number < 20; number += 1) {
    await store.add({ id: `owls-${number}`, text: 'Owls hunt at night. '.repeat(2_000) })
  }
  await store.close()
  const { url, close } = await startServer()
  await close()
  const environment = { ...(await settings(Number(new URL(url).port))), DATA_DIR: data.directory }
  expect((await examine(environment)).said).toMatch(/^ok +database +is sound$/m)
  expect((await examine(environment)).said).toMatch(
    /^ok +storage +20 documents, 0 conversations, .*, 0 keys, 0 shared collections$/m,
  )

  const file = await open(join(data.directory, 'agent-server.db'), 'r+')
  const { size } = await file.stat()
  await file.write(Buffer.alloc(size - 16_384, 7), 0, size - 16_384, 16_384)
  await file.close()
  expect((await examine(environment)).said).toMatch(
    /^FAILED database +cannot be read\n +→ .*\(damaged\)\. Stop the server and restore/m,
  )
  await data.remove()
})

it('says which version wrote newer data, and changes nothing', async () => {
  const data = await createSqliteData()
  onTestFinished(() => data.remove())
  await (await data.open()).close()
  const database = data.database()
  database.exec(`PRAGMA user_version = 99; UPDATE schema_version SET program = '0.9.0'`)
  database.close()
  const environment = { ...(await settings(9)), DATA_DIR: data.directory }
  expect((await examine(environment)).said).toMatch(
    /^FAILED database +cannot be read\n +→ .*a newer server, version 0\.9\.0 .*is unchanged: start the newer server again, or restore a backup/m,
  )
})

it('tells another program on the port from the server', async () => {
  const other = createServer((_request, response) => response.end('Hello.'))
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void other.close())
  const { code, said } = await examine(await settings((other.address() as AddressInfo).port))
  expect(said).toMatch(
    /^FAILED server +what answers at \S+ is not this server.*\n +→ .*another PORT$/m,
  )
  expect(code).toBe(1)
})

it('names the setting that is not valid', async () => {
  const { code, said } = await examine({ SERVER_API_KEY: TEST_KEY, PORT: 'eighty' })
  expect(said).toMatch(/^FAILED settings +not valid\n +→ .*PORT/ms)
  expect(code).toBe(1)
})
