import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { everything } from '@agent-server/lib/visibility.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSqliteStore } from '../../src/sqlite/sqlite-store.ts'
import { createSqliteData, type SqliteData } from './store-data.ts'

const HOLDER = fileURLToPath(new URL('./hold-store.ts', import.meta.url))

describe('A data directory', () => {
  let data: SqliteData
  beforeEach(async () => {
    data = await createSqliteData()
  })
  afterEach(() => data.remove())

  const refusal = () => ({
    code: 'store_unavailable',
    message: expect.stringContaining(
      `Another server is using the data directory ${data.directory}`,
    ),
  })

  it('is refused to a second process, and free as soon as the first is killed', async () => {
    const holder = spawn(process.execPath, [HOLDER, data.directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(holder.stdout, 'data')
    await expect(data.open()).rejects.toMatchObject(refusal())

    holder.kill('SIGKILL')
    await once(holder, 'exit')
    const store = await data.open()
    await store.close()
  })

  it('is refused to a second store of the same process until the first is closed', async () => {
    const store = await data.open()
    await expect(data.open()).rejects.toMatchObject(refusal())
    await store.add({ id: 'a', text: 'The first goes on' })
    await store.close()
    const next = await data.open()
    expect(await next.get(everything(), 'a')).toBeDefined()
    await next.close()
  })

  it('that is not writable names the remedy', async () => {
    // In the way of the file that is the lock.
    await mkdir(join(data.directory, 'agent-server.lock'))
    await expect(data.open()).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(/Cannot write in the data directory: .+ Set DATA_DIR/),
    })
  })

  it('that is a file is refused by name', async () => {
    const directory = join(data.directory, 'taken')
    await writeFile(directory, '')
    const opening = createSqliteStore({ directory, queueLimit: 1, onCrash: () => undefined })
    await expect(opening).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining(directory),
    })
  })
})
