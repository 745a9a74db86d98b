import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ServerState } from '@agent-server/schemas/operator/admin.ts'
import { expect, it } from 'vitest'
import { onlyLong } from '../support/long.ts'
import { TEST_KEY } from '../support/server.ts'
import { freePort, MAIN, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const BREAKING = fileURLToPath(new URL('../support/breaking-start.ts', import.meta.url))
/** A server does not start with it. */
const BROKEN = 'TOP_K=7'
const RESTART = { timeout: 30_000 }

/** Restarts a server with its key and these settings in its file, and waits for what follows. */
async function restartWith(before: readonly string[], after: readonly string[]) {
  const directory = await temporaryDirectory()
  const port = await freePort()
  const save = (...settings: readonly string[]) =>
    writeFile(
      join(directory, '.env'),
      [`SERVER_API_KEY=${TEST_KEY}`, `PORT=${port}`, ...settings, ''].join('\n'),
    )
  await save(...before)
  const environment = { NODE_ENV: 'production', UI: 'off' }
  const server = await startServerProcess(
    { ...environment, PORT: undefined, SERVER_API_KEY: undefined },
    { directory, command: [process.execPath, '--import', BREAKING, MAIN] },
  )
  const read = async () => ServerState.parse(await (await server.request('/admin/server')).json())
  const { startedAt } = await read()
  await save(...after)
  expect((await server.request('/admin/restart', { method: 'POST' })).status).toBe(202)
  const isNew = () =>
    read().then(
      (state) => state.startedAt !== startedAt,
      () => false,
    )
  await expect.poll(isNew, RESTART).toBe(true)
  return { server, state: await read() }
}

const REASON = expect.stringContaining('does not know: its log has the error')

it('A restart that fails for a reason that nobody knows goes back to the settings that worked, and says so', async () => {
  const { server, state } = await restartWith([], [BROKEN])
  expect(state).toMatchObject({
    state: 'running',
    reason: REASON,
    restart: { required: true, settings: ['TOP_K'] },
  })
  expect(server.stderr).toContain('TypeError: Cannot read properties of undefined\n    at ')
  const said = server.log().filter(({ msg }) => msg.includes('earlier ones are used'))
  expect(said).toMatchObject([{ level: 50 }])
})

it(
  'A restart that fails for such a reason waits for other settings where those before let in others',
  onlyLong,
  async () => {
    const { state } = await restartWith(['TRUST_PROXY=10.0.0.0/8'], [BROKEN])
    expect(state).toMatchObject({ state: 'failed', reason: REASON })
  },
)
