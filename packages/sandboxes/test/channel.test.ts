import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../../test/support/temporary-files.ts'
import { startChild } from '../src/channel.ts'

const PYTHON = '/usr/bin/python3'
const MEGABYTE = 2 ** 20
const hold = (megabytes: number) =>
  `const held = Buffer.alloc(${megabytes * MEGABYTE}, 1); setInterval(() => held.length, 1000)`
const start = (parameters: string[], megabytes: number) =>
  startChild({ path: '/bin/sh', parameters, maximumBytes: megabytes * MEGABYTE })
const node = (code: string) => `${process.execPath} -e '${code}'`

describe('A child that holds more memory than it may', () => {
  it('is ended, with that reason', async () => {
    const child = start(['-c', `exec ${node(hold(400))}`], 300)
    expect(await child.ended).toMatch(/\(It held \d+ bytes\)$/)
  })

  it('is ended with what it has started, which counts', async () => {
    const both = `${node(hold(150))} & ${node(hold(150))} & wait`
    expect(await start(['-c', both], 300).ended).toMatch(/\(It held \d+ bytes\)$/)
  })

  it.runIf(existsSync(PYTHON))(
    'is left alone where several share what they hold (needs Python)',
    async () => {
      const code = 'import os, time; x = b"x" * 10**8; [os.fork() for _ in range(2)]; time.sleep(1)'
      const child = start(['-c', `exec ${PYTHON} -c '${code}'`], 250)
      expect(await child.ended).toMatch(/\(code 0\)$/)
    },
  )
})

describe('A child that cannot be started', () => {
  it('for want of descriptors is refused, and does not end the server', async () => {
    const module = new URL('../src/channel.ts', import.meta.url)
    const code = `
      import { openSync } from 'node:fs'
      const { startChild } = await import('${module}')
      const start = () => startChild({ path: '/bin/sleep', parameters: ['60'], maximumBytes: 1 })
      // What watches its memory has begun by then.
      await start().ended
      try { for (;;) openSync('/dev/null') } catch {}
      try { start() } catch ({ message }) { console.log(message) }
      process.on('exit', (code) => console.log('lives', code))`
    const file = join(await temporaryDirectory(), 'starve.mjs')
    await writeFile(file, code)
    const command = `ulimit -n 128; exec ${process.execPath} ${file}`
    const child = spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8' })
    expect(child).toMatchObject({ stderr: '', stdout: 'A child has no streams\nlives 0\n' })
  })
})
