import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { JobExhausted, JobRefusal, runJob } from '../../src/lib/child-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const ENTRY = new URL('./answering-process.ts', import.meta.url)
const LIMITS = { heapMegabytes: 64, deadlineMs: 20_000 }
const { signal } = new AbortController()
const run = (input: object, more: object = {}) =>
  runJob(ENTRY, input, { ...LIMITS, ...more }, signal)

describe('A job', () => {
  it('is given its input, and gives its output, without any of the environment', async () => {
    expect(await run({ what: 'echo', value: 'hello' })).toEqual({ value: 'hello', environment: [] })
  })

  it('refuses in its own words', async () => {
    const refused = run({ what: 'refuse', value: 'The file is none' })
    await expect(refused).rejects.toThrow(new JobRefusal('The file is none'))
  })

  it('that fails is a fault of ours, not a refusal', async () => {
    const failure = await run({ what: 'fail', value: 'hunter2' }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(Error)
    expect(failure).not.toBeInstanceOf(JobRefusal)
    expect(failure).not.toBeInstanceOf(JobExhausted)
  })

  it('that ends without a word has taken too much', async () => {
    await expect(run({ what: 'exit' })).rejects.toThrow(JobExhausted)
  })

  it('that takes too much memory is ended', async () => {
    await expect(run({ what: 'hoard' })).rejects.toThrow('took too much memory')
  })

  it('that takes too long is ended', async () => {
    const late = run({ what: 'hang' }, { deadlineMs: 400 })
    await expect(late).rejects.toThrow('took too long')
  })

  it('ends with the reason of whoever leaves', async () => {
    const leaving = new AbortController()
    const reason = new Error('gone')
    const job = runJob(ENTRY, { what: 'hang' }, LIMITS, leaving.signal)
    setTimeout(() => leaving.abort(reason), 200)
    await expect(job).rejects.toBe(reason)
  })

  it('is not begun for who has left', async () => {
    const reason = new Error('gone')
    const job = runJob(ENTRY, { what: 'echo' }, LIMITS, AbortSignal.abort(reason))
    await expect(job).rejects.toBe(reason)
  })
})

describe('What a job may not', () => {
  it('read: the keys in .env, and the data beside the program', async () => {
    const { dirname } = await import('node:path')
    const root = dirname(dirname(dirname(ENTRY.pathname)))
    for (const value of [join(root, '.env'), join(root, 'data', 'agent-server.db')]) {
      await expect(run({ what: 'read', value })).rejects.toThrow(/has been restricted/)
    }
  })

  it.each([
    ['read', '/etc/hostname'],
    ['write', '/var/tmp/job-was-here'],
  ])('%s: a file of the machine', async (what, value) => {
    await expect(run({ what, value })).rejects.toThrow(/has been restricted/)
  })

  it('connect', async () => {
    const server = createServer((socket) => socket.end())
    server.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    onTestFinished(() => void server.close())
    const address = server.address()
    const port = typeof address === 'object' && address ? address.port : 0
    await expect(run({ what: 'connect', value: String(port) })).rejects.toThrow(
      /has been restricted/,
    )
  })

  it('write outside the directory that it is given', async () => {
    const directory = await temporaryDirectory()
    const inside = join(directory, 'a')
    await run({ what: 'write', value: inside }, { directory })
    expect(await run({ what: 'read', value: inside }, { directory })).toBe('written')
    const outside = run({ what: 'write', value: `${directory}-b` }, { directory })
    await expect(outside).rejects.toThrow(/has been restricted/)
  })
})
