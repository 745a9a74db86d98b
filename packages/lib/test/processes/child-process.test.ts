import { cp, symlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join, relative, sep } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import {
  checkProcess,
  jobsAtOnce,
  programFiles,
  runJob,
} from '@agent-server/lib/processes/child-process.ts'
import { JobCrashed, JobExhausted } from '@agent-server/lib/processes/job.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { long, onlyLong, someOf } from '../../../../test/support/long.ts'
import { ROOT } from '../../../../test/support/source-tree.ts'
import { temporaryDirectory } from '../../../../test/support/temporary-files.ts'

const root = ROOT.pathname
const MODULE = new URL('./answering-job.ts', import.meta.url)
const JOB = {
  task: 'The job',
  advice: 'ask for less',
  module: MODULE,
  run: 'doWhatIsAsked',
  heapMegabytes: 64,
  residentMegabytes: 256,
  deadlineMs: 20_000,
}
const { signal } = new AbortController()
const run = (input: object, more: object = {}) => runJob({ ...JOB, ...more }, input, signal)

describe('The check of a process', () => {
  it('accepts one that starts', () =>
    checkProcess(new URL('../../src/processes/job-process.ts', import.meta.url)))

  it('reports why one does not start', async () => {
    const nowhere = new URL('./nowhere.ts', import.meta.url)
    const failure = await checkProcess(nowhere).catch((error: unknown) => error)
    expect(failure).toMatchObject({ message: 'ended with exit code 1' })
    expect(failure).toHaveProperty('cause.message', expect.stringContaining('nowhere.ts'))
  })
})

describe('A job', () => {
  it('receives its input and returns its output, without any environment variable', async () => {
    expect(await run({ what: 'echo', value: 'hello' })).toEqual({
      value: 'hello',
      environment: [],
    })
  })

  it('refuses with its own message', async () => {
    const refused = run({ what: 'refuse', value: 'The file is none' })
    await expect(refused).rejects.toThrow(new Refusal('The file is none'))
  })

  it('that fails is an internal error, not a refusal', async () => {
    const failure = await run({ what: 'fail', value: 'hunter2' }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(Error)
    expect(failure).not.toBeInstanceOf(Refusal)
    expect(failure).not.toBeInstanceOf(JobExhausted)
  })

  it('that reads a forbidden path reports which paths are allowed', async () => {
    const packages = join(ROOT.pathname, 'node_modules')
    await expect(run({ what: 'read', value: '/etc/hostname' })).rejects.toThrow(
      new RegExp(`may not read .+${packages}.+install`),
    )
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

  it('whose file is missing is an internal error', async () => {
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
        message: 'The job took too much memory: ask for less',
        cause: { message: expect.stringMatching(words) },
      })
    },
  )

  it.runIf(process.platform === 'linux')(
    'is held by the system, besides the watch (needs Linux)',
    async () => {
      const limits = { residentMegabytes: 8_192, mappedMegabytes: 1_536 }
      const ended = await run({ what: 'hoard at once' }, limits).catch((error: unknown) => error)
      expect(ended).toBeInstanceOf(JobExhausted)
      expect(Object(ended).cause.message).toMatch(/allocat|out of memory/i)
    },
  )

  it('is ended for its memory even while this process is busy', onlyLong, async () => {
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

  it('rejects with the reason of the signal', async () => {
    const leaving = new AbortController()
    const reason = new Error('gone')
    const job = runJob(JOB, { what: 'hang' }, leaving.signal)
    setTimeout(() => leaving.abort(reason), 200)
    await expect(job).rejects.toBe(reason)
  })

  it('is not started for a caller that hung up', async () => {
    const reason = new Error('gone')
    const job = runJob(JOB, { what: 'echo' }, AbortSignal.abort(reason))
    await expect(job).rejects.toBe(reason)
  })
})

it.each([
  [2 * 2 ** 30, 1],
  [4 * 2 ** 30, 2],
  [64 * 2 ** 30, 3],
])('In %d bytes, so many jobs run at the same time: %d', (bytes, jobs) => {
  expect(jobsAtOnce(bytes)).toBe(jobs)
})

describe('A job may not', () => {
  it('read: the keys in .env, and the data beside the program', async () => {
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

const holds = (outer: string, inner: string) => !relative(outer, inner).split(sep).includes('..')

it('A process of ours may read the program, and neither the settings nor the data beside it', () => {
  for (const path of ['src/main.ts', 'node_modules/zod/package.json', 'package.json']) {
    expect(programFiles().some((readable) => holds(readable, join(root, path)))).toBe(true)
  }
  for (const path of ['.env', 'data/agent-server.db', 'agent.json', 'skills/briefing/SKILL.md']) {
    expect(programFiles().filter((readable) => holds(readable, join(root, path)))).toEqual([])
  }
})

it('A process of ours may read packages behind a symbolic link', onlyLong, async () => {
  const copy = await temporaryDirectory()
  for (const name of ['src', 'packages', 'package.json']) {
    await cp(join(root, name), join(copy, name), { recursive: true })
  }
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  const source = pathToFileURL(join(copy, 'src/'))
  const { runJob } = await import(
    new URL('../packages/lib/src/processes/child-process.ts', source).href
  )
  const limits = { heapMegabytes: 256, residentMegabytes: 1_000, deadlineMs: 60_000 }
  const module = new URL('../packages/office-tools/src/forms/docx-form.ts', source)
  const job = { task: 'The job', module, run: 'nothing', ...limits }
  // It is there: only the function is not.
  await expect(runJob(job, {}, new AbortController().signal)).rejects.toThrow(/failed: TypeError/)
})
