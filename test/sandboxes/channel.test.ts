import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { startChild } from '../../src/sandboxes/channel.ts'

const PYTHON = '/usr/bin/python3'
const MEGABYTE = 2 ** 20
const hold = (megabytes: number) =>
  `const held = Buffer.alloc(${megabytes * MEGABYTE}, 1); setInterval(() => held.length, 1000)`
const start = (parameters: string[], megabytes: number) =>
  startChild({ path: '/bin/sh', parameters, maximumBytes: megabytes * MEGABYTE })
const node = (code: string) => `${process.execPath} -e '${code}'`

describe('A child that holds more memory than it may', () => {
  it('is ended, and its last words say so', async () => {
    const child = start(['-c', `exec ${node(hold(400))}`], 300)
    expect(await child.ended).toMatch(/\(held \d+ bytes\)$/)
  })

  it('is ended with what it has started, which counts', async () => {
    const both = `${node(hold(150))} & ${node(hold(150))} & wait`
    expect(await start(['-c', both], 300).ended).toMatch(/\(held \d+ bytes\)$/)
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
