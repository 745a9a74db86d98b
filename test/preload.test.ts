import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
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

/** Files, also those of packages, since each costs a start about a millisecond, and memory for good. There were 1,041 at the end of November. */
const MOST_FILES = 1_070

it('npm start serves, without what only fetch needs or what few servers use, and ends at a signal', async () => {
  const folder = await temporaryDirectory()
  const [teller, list] = [join(folder, 'teller.cjs'), join(folder, 'modules.txt')]
  await writeFile(
    teller,
    `const loaded = []
     const tell = () =>
       require('node:fs').writeFileSync(${JSON.stringify(list)}, [...process.moduleLoadList, ...loaded].join('\\n'))
     if (require('node:worker_threads').isMainThread) {
       process.once('exit', tell)
       require('node:module').registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
     }`,
  )
  const server = await startServerProcess(
    { NODE_OPTIONS: `--require ${teller}` },
    { until: 'listening', command: NPM_START },
  )
  expect(await server.stop()).toEqual({ code: 0, signal: null })
  const modules = await readFile(list, 'utf8')
  expect(modules).toContain('NativeModule http\n')
  // An `import` of node:http loads it: 3 MB, and a tenth of the start.
  expect(modules).not.toContain('undici')
  expect(modules).not.toMatch(/opentelemetry.*\.mjs|anthropic|sdk-node/)
  const files = modules.split('\n').filter((name) => name.startsWith('file:'))
  expect(files.length).toBeGreaterThan(500)
  expect(files.length).toBeLessThan(MOST_FILES)
})

it('the allocator shares one heap among threads on Linux, unless the operator says otherwise', async () => {
  const main = join(await temporaryDirectory(), 'main.cjs')
  await writeFile(
    main,
    `const { MALLOC_ARENA_MAX, MALLOC_TRIM_THRESHOLD_ } = process.env
     console.log(JSON.stringify([MALLOC_ARENA_MAX, MALLOC_TRIM_THRESHOLD_, ...process.argv.slice(2)]))`,
  )
  const tell = (environment: Record<string, string>) => {
    const command = [...parameters.slice(0, -1), main, 'with', 'arguments']
    const { PATH = '' } = process.env
    const { stdout } = spawnSync(program, command, {
      encoding: 'utf8',
      env: { PATH, ...environment },
    })
    return JSON.parse(stdout)
  }
  const [heaps, kept] = process.platform === 'linux' ? ['1', '131072'] : [null, null]
  expect(tell({})).toEqual([heaps, kept, 'with', 'arguments'])
  expect(tell({ MALLOC_ARENA_MAX: '4' })).toEqual(['4', kept, 'with', 'arguments'])
})
