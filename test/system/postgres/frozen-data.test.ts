import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fillEverything } from '../../support/frozen/fill.ts'
import { inventoryOf } from '../../support/frozen/inventory.ts'
import { FROZEN, isFreezing, MAX_BYTES, openFrozen } from '../../support/frozen/open.ts'
import { startQdrant } from '../../support/qdrant/nodes.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'
import { createPostgresData, hasPostgres } from './store-data.ts'

const run = promisify(execFile)
const DUMP = join(FROZEN, 'postgres.sql')
const INVENTORY = join(FROZEN, 'postgres.json')
const LONG_MS = 180_000
const PROGRAMS = '/usr/lib/postgresql'

/** Of a copy in steps, which is not under way. */
const NOTHING = ['moved_jobs', 'moves']

/** psql and pg_dump, as new as there are. */
function program(name: string): string {
  const [newest = ''] = readdirSync(PROGRAMS).toSorted((a, b) => Number(b) - Number(a))
  return join(PROGRAMS, newest, 'bin', name)
}

const MOVE = `DO $$
  DECLARE one record; later bigint;
  BEGIN
    SELECT extract(epoch FROM now())::bigint * 1000 - 60000 - max(at) INTO later FROM agent_server.audit;
    SET LOCAL session_replication_role = replica;
    FOR one IN SELECT table_name, column_name FROM information_schema.columns
      WHERE table_schema = 'agent_server' AND data_type = 'bigint' AND (column_name LIKE '%\\_at' OR column_name = 'at')
    LOOP
      EXECUTE format('UPDATE agent_server.%I SET %I = %2$I + %s', one.table_name, one.column_name, later);
    END LOOP;
    UPDATE agent_server.meta SET value = value + later WHERE name LIKE 'clock%';
  END $$`

/** A database with the data of the version, as if they had been written a minute ago. */
async function thawed() {
  const data = await createPostgresData()
  onTestFinished(() => data.remove())
  const flags = ['--quiet', '--no-psqlrc', '--set=ON_ERROR_STOP=1']
  await run(program('psql'), [...flags, `--file=${DUMP}`, data.url])
  await data.sql(MOVE)
  return data
}

async function open(url: string) {
  const qdrant = await startQdrant()
  const place = { DATABASE_URL: url, QDRANT_URL: qdrant.url, DATA_DIR: await temporaryDirectory() }
  return openFrozen(place)
}

describe.skipIf(!hasPostgres)(
  'The data that 0.1.0 wrote into PostgreSQL (needs PostgreSQL)',
  () => {
    it.runIf(isFreezing)('are frozen (needs FREEZE_DATA=1)', { timeout: LONG_MS }, async () => {
      const data = await createPostgresData()
      onTestFinished(() => data.remove())
      const directory = join(await temporaryDirectory(), 'data')
      await mkdir(directory)
      const qdrant = await startQdrant()
      const place = { DATABASE_URL: data.url, QDRANT_URL: qdrant.url }
      await fillEverything(directory, place, () => data.open())
      await mkdir(FROZEN, { recursive: true })
      const flags = ['--no-owner', '--no-privileges', '--schema=agent_server', `--file=${DUMP}`]
      await run(program('pg_dump'), [...flags, data.url])
      // No path of the machine stays.
      const dump = await readFile(DUMP, 'utf8')
      await writeFile(DUMP, dump.replaceAll(dirname(directory), '/srv'))
      const server = await open((await thawed()).url)
      await writeFile(INVENTORY, `${JSON.stringify(await inventoryOf(server), null, 1)}\n`)
    })

    it('have a row in every table of that version, in little room', async () => {
      expect((await stat(DUMP)).size).toBeLessThan(MAX_BYTES)
      const data = await thawed()
      const tables = await data.sql(
        `SELECT relname FROM pg_class WHERE relnamespace = 'agent_server'::regnamespace AND relkind = 'r'`,
      )
      const empty: unknown[] = []
      for (const { relname } of tables) {
        const rows = await data.sql(`SELECT 1 FROM agent_server.${relname} LIMIT 1`)
        if (rows.length === 0) empty.push(relname)
      }
      expect(empty.toSorted()).toEqual(NOTHING)
    })

    it('are opened by this version, which finds all of them', { timeout: LONG_MS }, async () => {
      const server = await open((await thawed()).url)
      expect(await inventoryOf(server)).toEqual(JSON.parse(await readFile(INVENTORY, 'utf8')))
    })
  },
)
