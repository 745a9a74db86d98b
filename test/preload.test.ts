import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { NPM_START, startServerProcess } from './support/server-process.ts'
import { temporaryDirectory } from './support/temporary-files.ts'

const [program, ...parameters] = NPM_START

it.each(['20.20.2', '26.8.2'])('npm start on Node.js %s says which it needs', async (version) => {
  // Runs first, in the place of an older version.
  const older = join(await temporaryDirectory(), 'older.cjs')
  const versions = `{ value: { ...process.versions, node: '${version}' } }`
  await writeFile(older, `Object.defineProperty(process, 'versions', ${versions})`)
  const { status, stderr } = spawnSync(program, ['--require', older, ...parameters], {
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^Agent Server needs Node.js 26\.9/)])
})

it('npm start serves, and ends at a signal', async () => {
  const server = await startServerProcess({}, { until: 'listening', command: NPM_START })
  expect(await server.stop()).toEqual({ code: 0, signal: null })
})
