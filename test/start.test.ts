import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ServerState } from '../src/schemas/operator/admin.ts'
import { onlyLong } from './support/long.ts'
import { freePort, MAIN, type ServerProcess, startServerProcess } from './support/server-process.ts'

const START = fileURLToPath(new URL('../src/start.ts', import.meta.url))
const NAME = 'MALLOC_TRIM_THRESHOLD_'

const started = (environment: Record<string, string> = {}, flags: string[] = []) =>
  startServerProcess(
    { NODE_COMPILE_CACHE: undefined, ...environment },
    {
      until: 'listening',
      command: [process.execPath, ...flags, START],
    },
  )

/** The file that the kernel shows of the process which wrote the log; its parts end in a zero byte. */
async function readProcess(server: ServerProcess, file: 'environ' | 'cmdline'): Promise<string[]> {
  const pid = server.log().find(({ msg }) => msg.startsWith('listening'))?.pid
  const text = await readFile(`/proc/${pid}/${file}`, 'utf8')
  return text.split('\0')
}

describe.skipIf(process.platform !== 'linux')('The start of the server (needs Linux)', () => {
  it('gives it an allocator that returns freed memory and a cache of compiled code, and ends at a signal', async () => {
    const server = await started()
    const environment = await readProcess(server, 'environ')
    expect(environment).toEqual(expect.arrayContaining([`${NAME}=131072`, 'MALLOC_ARENA_MAX=1']))
    expect(environment).toContainEqual(expect.stringMatching(/^NODE_COMPILE_CACHE=.+agent-server$/))
    expect((await readProcess(server, 'cmdline')).slice(1, 4)).toEqual([
      '--max-semi-space-size=8',
      '--heap-growing-percent=75',
      expect.stringMatching(/src\/main\.ts$/),
    ])
    // The process that was started is the one that runs, so that no signal is lost between two.
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  })

  it.each([
    ['start.ts', START],
    ['main.ts', MAIN],
  ])('hands nothing on to what it starts that it was started with: %s', async (_name, file) => {
    const command = `exec 300</etc/hostname; exec "$0" "$1"`
    const server = await startServerProcess(
      {},
      { until: 'listening', command: ['/bin/bash', '-c', command, process.execPath, file] },
    )
    const open = await readdir(`/proc/${server.pid}/fdinfo`)
    const numbers = open.map(Number).filter((number) => number > 2)
    expect(numbers.length).toBeGreaterThan(0)
    expect(numbers).not.toContain(300)
    await server.stop()
  })

  it('keeps what the operator set', onlyLong, async () => {
    const server = await started({ [NAME]: '65536' })
    expect(await readProcess(server, 'environ')).toContain(`${NAME}=65536`)
    await server.stop()
  })

  it('keeps the flags of Node.js', onlyLong, async () => {
    const server = await started({}, ['--stack-size=900'])
    expect((await readProcess(server, 'cmdline')).slice(1, 5)).toEqual([
      '--stack-size=900',
      '--max-semi-space-size=8',
      '--heap-growing-percent=75',
      expect.stringMatching(/src\/main\.ts$/),
    ])
    await server.stop()
  })

  it('takes the heap that the operator wants', onlyLong, async () => {
    const wanted = ['--max-semi-space-size=12', '--heap_growing_percent=200']
    const server = await started({}, wanted)
    expect((await readProcess(server, 'cmdline')).slice(1, 4)).toEqual([
      ...wanted,
      expect.stringMatching(/src\/main\.ts$/),
    ])
    await server.stop()
  })
})

describe('Where the system replaces no process', () => {
  it(
    'the server is a child that begins anew at a restart, stopped or running, and ends at one signal to all',
    onlyLong,
    async () => {
      const without = 'data:text/javascript,process.execve=undefined'
      const command = [process.execPath, '--import', without, START] as const
      const server = await startServerProcess({ PORT: await freePort() }, { command })
      const state = async () =>
        ServerState.parse(await (await server.request('/admin/server')).json()).state
      const ask = async (action: string) =>
        (await server.request(`/admin/${action}`, { method: 'POST' })).status
      for (const [action, wanted] of [
        ['stop', 'stopped'],
        ['launch', 'running'],
      ] as const) {
        expect(await ask(action)).toBe(202)
        await expect.poll(() => state().catch(() => ''), { timeout: 60_000 }).toBe(wanted)
      }
      const listening = () => server.log().filter(({ msg }) => msg.startsWith('listening'))
      await expect.poll(() => new Set(listening().map(({ pid }) => pid)).size).toBe(3)
      // To the whole group, as a terminal and most supervisors send it: one that counted twice would end at once.
      expect(await server.stop()).toEqual({ code: 0, signal: null })
      expect(server.log().at(-1)?.msg).toBe('closed')
    },
  )
})
