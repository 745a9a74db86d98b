import { getCompileCacheDir } from 'node:module'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runJob } from '../../../src/lib/processes/child-process.ts'
import { JobCrashed, JobExhausted, JobRefusal } from '../../../src/lib/processes/job.ts'
import { long, someOf } from '../../support/long.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'

const MODULE = new URL('./answering-job.ts', import.meta.url)
const JOB = {
  ...{ task: 'The job', advice: 'ask for less', module: MODULE, run: 'doWhatIsAsked' },
  ...{ heapMegabytes: 64, residentMegabytes: 256, deadlineMs: 20_000 },
}
const { signal } = new AbortController()
const run = (input: object, more: object = {}) => runJob({ ...JOB, ...more }, input, signal)

describe('A job', () => {
  it('is given its input, and gives its output, without any of the environment', async () => {
    expect(await run({ what: 'echo', value: 'hello' })).toEqual({
      value: 'hello',
      // Where compiled modules are, to read them alone.
      environment: getCompileCacheDir()
        ? ['NODE_COMPILE_CACHE', 'NODE_COMPILE_CACHE_READONLY']
        : [],
    })
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

  it.each([
    ['exit', 'ended with exit code 3'],
    ['abort', 'ended with SIGABRT'],
  ])('that ends by itself has crashed, and not for want of memory: %s', async (what, words) => {
    const crash = await run({ what }).catch((error: unknown) => error)
    expect(crash).toBeInstanceOf(JobCrashed)
    expect(crash).toMatchObject({ message: words })
  })

  it('with an input that cannot be sent fails', async () => {
    await expect(run({ what: 'echo', value: () => 1 })).rejects.toThrow(/could not be cloned/)
  })

  it('that is not there is a fault of ours', async () => {
    await expect(run({}, { run: 'nothing' })).rejects.toThrow(/The job failed: TypeError/)
  })

  it.each(
    someOf<[string, RegExp]>(
      [
        ['hoard', /heap out of memory|Allocation failed/],
        ['hoard buffers', /^It held \d+ bytes/],
        ['hoard at once', /^It held \d+ bytes/],
      ],
      1,
    ),
  )(
    'that takes too much memory is ended, and the cause says how: %s',
    long,
    async (what, words) => {
      const ended = await run({ what }).catch((error: unknown) => error)
      expect(ended).toBeInstanceOf(JobExhausted)
      expect(ended).toMatchObject({
        ...{
          message: 'The job took too much memory: ask for less',
          cause: { message: expect.stringMatching(words) },
        },
      })
    },
  )

  it('is ended for its memory also while this process is busy', async () => {
    const ended = run({ what: 'hoard at once' }).catch((error: unknown) => error)
    await setImmediate()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000)
    const { cause } = Object(await ended)
    const held = Number(/^It held (\d+)/.exec(cause?.message)?.[1])
    expect(held).toBeGreaterThan(JOB.residentMegabytes * 2 ** 20)
    expect(held).toBeLessThan(4 * JOB.residentMegabytes * 2 ** 20)
  })

  it('that takes too long is ended', async () => {
    const late = run({ what: 'hang' }, { deadlineMs: 400 })
    await expect(late).rejects.toThrow('The job took too long: ask for less')
  })

  it('ends with the reason of whoever leaves', async () => {
    const leaving = new AbortController()
    const reason = new Error('gone')
    const job = runJob(JOB, { what: 'hang' }, leaving.signal)
    setTimeout(() => leaving.abort(reason), 200)
    await expect(job).rejects.toBe(reason)
  })

  it('is not begun for who has left', async () => {
    const reason = new Error('gone')
    const job = runJob(JOB, { what: 'echo' }, AbortSignal.abort(reason))
    await expect(job).rejects.toBe(reason)
  })
})

describe('What a job may not', () => {
  it('read: the keys in .env, and the data beside the program', async () => {
    const { dirname } = await import('node:path')
    const root = dirname(dirname(dirname(MODULE.pathname)))
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
