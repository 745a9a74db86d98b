import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { SandboxSession } from '../src/sandbox.ts'
import { SandboxSessions } from '../src/sessions.ts'
import { createFakeSandbox } from './fake-sandbox.ts'

const { signal } = new AbortController()

function create({ maximum = 10, idleMs = 60_000, open = {} } = {}) {
  const fake = createFakeSandbox()
  let failures = 0
  const warnings: string[] = []
  const log = { warn: (_fields: object, message: string) => void warnings.push(message) }
  const sessions = new SandboxSessions({
    sandbox: async () => ({ ...fake.sandbox, ...open }),
    onFailure: () => {
      failures += 1
    },
    maximum,
    idleMs,
    log,
  })
  onTestFinished(() => sessions.close())
  const run = (sessionId: string, code = '', owner?: string) =>
    sessions.run(sessionId, { code, owner }, signal)
  return { ...fake, sessions, run, warnings, failures: () => failures }
}

describe('The sessions of sandboxes', () => {
  it('are kept for a conversation, and shared with no other', async () => {
    const { run, sessions: kept } = create()
    expect(await run('a', '1')).toMatchObject({ fresh: true })
    expect(await run('a', '2')).toMatchObject({ fresh: false })
    expect(await run('b', '3')).toMatchObject({ fresh: true })
    expect(await run('a', '4')).toMatchObject({ fresh: false })
    await kept.end('a')
    expect(await run('a', '5')).toMatchObject({ fresh: true })
  })

  it('are opened once for runs that come together', async () => {
    const fake = create()
    const runs = await Promise.all(['1', '2', '3'].map((code) => fake.run('a', code)))
    expect(runs.map(({ fresh }) => fresh)).toEqual([true, false, false])
  })

  it('begin anew after a crash, and the crashed one is ended at once', async () => {
    const { run } = create()
    expect(await run('a', 'crash')).toMatchObject({ outcome: 'crashed' })
    expect(await run('a', '1')).toMatchObject({ outcome: 'finished', fresh: true })
  })

  it('give way to a new one, the one unused for longest first, but not while it runs', async () => {
    const { run, sessions } = create({ maximum: 2 })
    await run('a')
    const waiting = run('b', 'wait')
    await setImmediate()
    expect(await run('c')).toMatchObject({ fresh: true })
    expect(await run('a')).toMatchObject({ fresh: true })
    await sessions.end('b')
    expect(await waiting).toMatchObject({ outcome: 'crashed' })
  })

  it('give way to one of another owner first where that one has the most', async () => {
    const { run } = create({ maximum: 3 })
    await run('quiet', '', 'key-a')
    for (const name of ['1', '2', '3', '4', '5']) await run(name, '', 'key-b')
    expect(await run('quiet', '', 'key-a')).toMatchObject({ fresh: false })
    expect(await run('5', '', 'key-b')).toMatchObject({ fresh: false })
  })

  it('are refused if all are busy', async () => {
    const { run, sessions } = create({ maximum: 1 })
    const waiting = run('a', 'wait')
    await setImmediate()
    await expect(run('b')).rejects.toMatchObject({ code: 'sandbox_unavailable' })
    await sessions.end('a')
    await waiting
    expect(await run('b')).toMatchObject({ fresh: true })
  })

  it('end a while after the last run', async () => {
    const { run } = create({ idleMs: 1 })
    await run('a')
    await expect.poll(() => run('a').then(({ fresh }) => fresh)).toBe(true)
  })

  it('go on for the others where one caller leaves', async () => {
    const { run, sessions } = create()
    await run('a')
    const reason = new Error('left')
    const aborted = sessions.run('a', { code: '1', owner: undefined }, AbortSignal.abort(reason))
    await expect(aborted).rejects.toBe(reason)
    expect(await run('a')).toMatchObject({ fresh: false })
  })

  it('report that opening a sandbox failed, and try again the next time', async () => {
    const { run, state, failures, warnings } = create()
    state.broken = true
    await expect(run('a')).rejects.toMatchObject({ code: 'sandbox_unavailable' })
    expect(failures()).toBe(1)
    expect(warnings).toEqual(['opening a sandbox failed'])
    state.broken = false
    expect(await run('a')).toMatchObject({ fresh: true })
  })

  it('all end when the server stops, and there are no new ones', async () => {
    const { run, sessions } = create()
    const waiting = run('a', 'wait')
    await setImmediate()
    await sessions.close()
    expect(await waiting).toMatchObject({ outcome: 'crashed' })
    await expect(run('b')).rejects.toMatchObject({ code: 'shutting_down' })
  })

  it('do not block a stop while one opens, which is ended afterwards', async () => {
    const opening = Promise.withResolvers<SandboxSession>()
    const { run, sessions } = create({ open: { open: () => opening.promise } })
    const refused = expect(run('a')).rejects.toMatchObject({ code: 'shutting_down' })
    await setImmediate()
    await sessions.close()
    await refused
    const late = await createFakeSandbox().sandbox.open(signal)
    opening.resolve(late)
    await expect.poll(() => late.alive).toBe(false)
  })
})
