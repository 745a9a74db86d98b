import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { SandboxChannel } from '../src/channel.ts'
import { encodeFrame } from '../src/frames.ts'
import { createInterpreterSessions } from '../src/interpreter-session.ts'
import { SandboxLimits } from '../src/limits.ts'

const LIMITS = SandboxLimits.parse({ fileMegabytes: 1 })
const { signal } = new AbortController()
const RESULT = { exitCode: 0, outputCut: false, names: [], filesLeftOut: 0 }

/** A fake of an interpreter: it says what the test lets it say. */
function fakeChannel() {
  const output = new PassThrough()
  const { promise: ended, resolve: end } = Promise.withResolvers<string>()
  const channel: SandboxChannel = {
    input: new PassThrough(),
    output,
    ended,
    kill: async () => end('killed'),
  }
  const say = (header: object, ...parts: string[]) => {
    for (const bytes of encodeFrame(header, parts.map(Buffer.from))) output.write(bytes)
  }
  return { channel, say, end, output }
}

async function openFake() {
  const fake = fakeChannel()
  const opening = createInterpreterSessions(LIMITS).open(fake.channel, signal)
  fake.say({ ready: true })
  return { ...fake, session: await opening }
}

describe('A session with an interpreter', () => {
  it('is refused where the interpreter ends before it is ready', async () => {
    const { channel, end } = fakeChannel()
    const opening = createInterpreterSessions(LIMITS).open(channel, signal)
    end('no such file')
    await expect(opening).rejects.toMatchObject({ code: 'sandbox_unavailable' })
  })

  it('is refused if anything but an interpreter answers', async () => {
    const { channel, say } = fakeChannel()
    const opening = createInterpreterSessions(LIMITS).open(channel, signal)
    say({ hello: 'world' })
    await expect(opening).rejects.toMatchObject({ code: 'sandbox_unavailable' })
  })

  it('is aborted with the signal’s reason', async () => {
    const reason = new Error('left')
    const { channel } = fakeChannel()
    const opening = createInterpreterSessions(LIMITS).open(channel, AbortSignal.abort(reason))
    await expect(opening).rejects.toBe(reason)
    expect(await channel.ended).toBe('killed')
  })

  it.each([
    ['a result that lacks fields', { exitCode: 0 }, []],
    ['more names than there may be', { ...RESULT, names: Array(33).fill('a') }, ['', '']],
    ['an exit code that is no number', { ...RESULT, exitCode: 'x' }, ['', '']],
    ['more than was allowed', RESULT, ['x'.repeat(8_000_000)]],
  ])('ends with %s', async (_case, header, parts) => {
    const { session, say, channel } = await openFake()
    const running = session.run({ code: '' }, signal)
    await Promise.resolve()
    say(header, ...parts)
    expect(await running).toMatchObject({ outcome: 'crashed' })
    expect(session.alive).toBe(false)
    expect(await channel.ended).toBe('killed')
  })

  it('leaves out files whose names lead elsewhere, even if the interpreter gives them', async () => {
    const { session, say } = await openFake()
    const running = session.run({ code: '' }, signal)
    await Promise.resolve()
    say({ ...RESULT, names: ['../up', 'fine'], filesLeftOut: 1 }, '', '', 'bad', 'good')
    expect(await running).toMatchObject({
      files: [{ name: 'fine', bytes: Buffer.from('good') }],
      filesLeftOut: 2,
    })
  })

  it('ends if the interpreter sends an unexpected message', async () => {
    const { session, say, channel } = await openFake()
    say(RESULT, '', '')
    expect(await channel.ended).toBe('killed')
    expect(await session.run({ code: '' }, signal)).toMatchObject({ outcome: 'crashed' })
  })

  it('that speaks unasked and cannot be ended, as its engine is away, fails the next run and not the server', async () => {
    const fake = fakeChannel()
    const kill = () => Promise.reject(new Error('The engine is away'))
    const opening = createInterpreterSessions(LIMITS).open({ ...fake.channel, kill }, signal)
    fake.say({ ready: true })
    const session = await opening
    fake.say(RESULT, '', '')
    // A rejection that nobody handles would end the server, and fails this run.
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    await expect(session.run({ code: '' }, signal)).rejects.toThrow('The engine is away')
  })

  it('does not end for a run that was aborted before it began', async () => {
    const { session } = await openFake()
    const reason = new Error('left')
    await expect(session.run({ code: '' }, AbortSignal.abort(reason))).rejects.toBe(reason)
    expect(session.alive).toBe(true)
  })
})
