import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { onlyLong } from '../../../../test/support/long.ts'
import { createSqliteData } from './store-data.ts'

const HOLDER = fileURLToPath(new URL('./hold-store.ts', import.meta.url))
const PROGRAM = fileURLToPath(new URL('./fill-disk.ts', import.meta.url))
const WITH_SMALL_DISK = 'mount -t tmpfs -o size=120m tmpfs "$1" && exec "$2" "$3" "$1"'
// A user namespace lets the test mount a disk of its own without being root; not every system allows it.
const canMount =
  spawnSync('unshare', ['-Urm', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt']).status === 0

describe.skipIf(!canMount)('On a full disk (where a test may mount one)', () => {
  it(
    'the store says so, keeps what it acknowledged, and goes on when there is room',
    onlyLong,
    async () => {
      const data = await createSqliteData()
      const script = ['-Urm', 'sh', '-c', WITH_SMALL_DISK, 'sh', data.directory]
      const { stdout } = await promisify(execFile)('unshare', [
        ...script,
        process.execPath,
        PROGRAM,
      ])
      expect(JSON.parse(stdout)).toEqual({
        file: 'storage_full',
        beside: 'stored',
        whenFull: 'storage_full',
        asked: true,
        unasked: 'storage_full',
        lost: 0,
        deleted: 'deleted',
        withRoom: 'stored',
      })
      await data.remove()
    },
  )
})

const READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec "$2" "$3" "$1"'

// MG-RAST/Shock#259, Edirom/MerMEId#170
describe.skipIf(!canMount)('On a disk that cannot be written (where a test may mount one)', () => {
  it.each(['empty', 'filled'])('an %s data directory is refused with the remedy', async (kind) => {
    const data = await createSqliteData()
    if (kind === 'filled') await (await data.open()).close()
    const script = ['-Urm', 'sh', '-c', READ_ONLY, 'sh', data.directory]
    const { status, stderr } = spawnSync('unshare', [...script, process.execPath, HOLDER], {
      encoding: 'utf8',
    })
    expect(status).not.toBe(0)
    expect(stderr).toContain(`Cannot write in the data directory: ${data.directory}`)
    expect(stderr).toContain('Set DATA_DIR')
    await data.remove()
  })
})
