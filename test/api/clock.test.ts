import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Readiness } from '@agent-server/schemas/operator/ops.ts'
import { expect, it } from 'vitest'
import { openDirectory } from '../../packages/stores/test/sqlite/store-data.ts'
import { startServer } from '../support/server.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const DAY_MS = 86_400_000

/** The readiness of a server that starts so long after what is written down as the time. */
async function readinessAfter(milliseconds: number) {
  const directory = await temporaryDirectory()
  await (await openDirectory(directory)).close()
  const database = new DatabaseSync(join(directory, 'agent-server.db'))
  const note = `INSERT INTO meta VALUES ('clock_seen', ?), ('clock_since', 0)`
  database.prepare(note).run(Date.now() - milliseconds)
  database.close()
  const server = await startServer({ DATA_DIR: directory })
  return Readiness.parse(await (await server.request('/readiness')).json())
}

it('A clock that was set back is a warning of the readiness, and the server is ready', async () => {
  const { status, warnings } = await readinessAfter(-400 * DAY_MS)
  expect(status).toBe('ready')
  expect(warnings).toEqual([
    {
      code: 'clock_jumped',
      message: expect.stringMatching(/^The clock went back by 34\d{6} s: until .* an hour/),
    },
  ])
})

it('A server that was down for long has no warning', async () => {
  expect((await readinessAfter(400 * DAY_MS)).warnings).toBeUndefined()
})
