import { execFile, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
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

/** psql or pg_dump, as new as there is one: where Debian has them, or on the PATH. */
function program(name: string): string | undefined {
  const versions = existsSync(PROGRAMS) ? readdirSync(PROGRAMS) : []
  const newestFirst = versions.toSorted((a, b) => Number(b) - Number(a))
  const places = [...newestFirst.map((version) => join(PROGRAMS, version, 'bin', name)), name]
  return places.find((place) => spawnSync(place, ['--version']).status === 0)
}

const PSQL = program('psql')
const PG_DUMP = program('pg_dump')
const DAY_MS = 86_400_000

/** Moves all times, so that the last thing was done then, and the days of usage. */
const movedTo = (last: number) => `DO $$
  DECLARE one record; later bigint; days integer;
  BEGIN
    SELECT ${last} - max(at) INTO later FROM agent_server.audit;
    days := floor(later / ${DAY_MS}.0);
    SET LOCAL session_replication_role = replica;
    FOR one IN SELECT table_name, column_name FROM information_schema.columns
      WHERE table_schema = 'agent_server' AND data_type = 'bigint' AND (column_name LIKE '%\\_at' OR column_name IN ('at', 'until'))
    LOOP
      EXECUTE format('UPDATE agent_server.%I SET %I = %2$I + %s', one.table_name, one.column_name, later);
    END LOOP;
    -- By way of negative numbers: a day may move to that of another row, which moves later.
    UPDATE agent_server.model_usage SET day = -(day + days);
    UPDATE agent_server.model_usage SET day = -day;
    UPDATE agent_server.meta SET value = value + later WHERE name LIKE 'clock%';
  END $$`

/** A database with the data of the version, as if they had been written a minute ago. */
async function thawed() {
  const data = await createPostgresData()
  onTestFinished(() => data.remove())
  const flags = ['--quiet', '--no-psqlrc', '--set=ON_ERROR_STOP=1']
  await run(String(PSQL), [...flags, `--file=${DUMP}`, data.url])
  await data.sql(movedTo(Date.now() - 60_000))
  return data
}

async function open(url: string) {
  const qdrant = await startQdrant()
  const place = { DATABASE_URL: url, QDRANT_URL: qdrant.url, DATA_DIR: await temporaryDirectory() }
  return openFrozen(place)
}

describe.skipIf(!hasPostgres || !PSQL)(
  'The data that 0.1.0 wrote into PostgreSQL (needs PostgreSQL and psql)',
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
      await run(PG_DUMP ?? 'pg_dump', [...flags, data.url])
      // No path of the machine stays, and nothing that an older psql does not know.
      const dump = (await readFile(DUMP, 'utf8')).replaceAll(/^\\(?:un)?restrict .*\n/gm, '')
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

    it('are moved to another year with the days of usage, and are for any psql', async () => {
      const data = await thawed()
      const later = Date.now() + 400 * DAY_MS
      await data.sql(movedTo(later))
      const [used] = await data.sql('SELECT max(day) AS day FROM agent_server.model_usage')
      expect(Math.abs(Number(used?.day) - later / DAY_MS)).toBeLessThan(2)
      expect(await readFile(DUMP, 'utf8')).not.toMatch(/^\\(?:un)?restrict/m)
    })

    it('are opened by this version, which finds all of them', { timeout: LONG_MS }, async () => {
      const server = await open((await thawed()).url)
      expect(await inventoryOf(server)).toEqual(JSON.parse(await readFile(INVENTORY, 'utf8')))
    })
  },
)
