import { describe, expect, it, onTestFinished } from 'vitest'
import { createE2bSandbox } from '../../src/e2b/e2b-sandbox.ts'
import { decodeEnvelopes, encodeEnvelope } from '../../src/e2b/envelopes.ts'
import { createFrameReader, encodeFrame } from '../../src/frames.ts'
import { SandboxLimits } from '../../src/limits.ts'
import { E2B_STUB_KEY, type StubProcess, startE2bStub } from './e2b-stub.ts'

const LIMITS = SandboxLimits.parse({ seconds: 5 })
const LIFETIME = 5 + 100 + 60
const { signal } = new AbortController()

/** A fake of Python with the loop: it answers with the code that it was to run, and ends at `exit`. */
function fakeInterpreter(): StubProcess {
  const { promise: ended, resolve: kill } = Promise.withResolvers<void>()
  let take: (output: Buffer) => void = () => undefined
  const say = (header: object, ...parts: Buffer[]) =>
    take(Buffer.concat(encodeFrame(header, parts)))
  const read = createFrameReader(1e8, ({ parts: [code = Buffer.alloc(0)] }) => {
    if (code.toString() === 'exit') return kill()
    const header = { exitCode: 0, outputCut: false, names: [], filesLeftOut: 0 }
    if (code.toString() !== 'wait') say(header, code, Buffer.alloc(0))
  })
  return {
    write: read,
    onOutput(take_) {
      take = take_
      say({ ready: true })
    },
    ended,
    kill,
  }
}

async function create({ key = E2B_STUB_KEY, launch = fakeInterpreter, seconds = 5 } = {}) {
  const stub = await startE2bStub({ launch })
  const sandbox = createE2bSandbox({
    limits: { ...LIMITS, seconds },
    apiKey: key,
    apiUrl: stub.url,
    template: 'a-template',
    idleSeconds: 100,
    log: { warn: () => undefined },
  })
  onTestFinished(async () => {
    await sandbox.close()
    await stub.close()
  })
  return { stub, sandbox }
}

const endsAtOnce = (): StubProcess => ({
  ...fakeInterpreter(),
  onOutput: () => undefined,
  ended: Promise.resolve(),
})

describe('A sandbox at E2B', () => {
  it('is made when it is first needed, without a network or an environment, and ended afterwards', async () => {
    const { stub, sandbox } = await create()
    await sandbox.check(signal)
    expect(stub.calls.map(({ method }) => method)).toEqual(['GET'])
    const session = await sandbox.open(signal)
    expect(stub.calls[1]).toMatchObject({
      method: 'POST',
      path: '/v2/sandboxes',
      body: {
        templateID: 'a-template',
        timeout: LIFETIME,
        allow_internet_access: false,
        envVars: {},
      },
    })
    expect(stub.sandboxes).toBe(1)
    await session.kill()
    expect(stub.sandboxes).toBe(0)
  })

  it('runs code, however long, and each run prolongs its life', async () => {
    const { stub, sandbox } = await create()
    const session = await sandbox.open(signal)
    const code = 'x'.repeat(90_000)
    expect(await session.run({ code }, signal)).toMatchObject({ outcome: 'finished', stdout: code })
    const file = { name: 'big', bytes: Buffer.alloc(1_000_000) }
    expect(await session.run({ code: '1', files: [file] }, signal)).toMatchObject({ stdout: '1' })
    const extensions = stub.calls.filter(({ path }) => path.endsWith('/timeout'))
    expect(extensions.map(({ body }) => body)).toEqual([
      { timeout: LIFETIME },
      { timeout: LIFETIME },
    ])
  })

  it('shows the key to the provider alone, never to the sandbox', async () => {
    const { stub, sandbox } = await create()
    await (await sandbox.open(signal)).run({ code: '1' }, signal)
    const inside = stub.calls.filter(({ path }) => path.startsWith('/process.'))
    expect(inside.length).toBeGreaterThan(1)
    expect(JSON.stringify(inside)).not.toContain(E2B_STUB_KEY)
  })

  it.each([
    ['the interpreter ends', 'exit', 'crashed'],
    ['its time is over', 'wait', 'timed-out'],
  ])('counts as gone where %s, and leaves nothing to pay for', async (_case, code, outcome) => {
    const { stub, sandbox } = await create({ seconds: 1 })
    const session = await sandbox.open(signal)
    expect(await session.run({ code }, signal)).toMatchObject({ outcome })
    expect(session.alive).toBe(false)
    await session.kill()
    expect(stub.sandboxes).toBe(0)
  })

  it('counts as gone where the provider has ended it', async () => {
    const { stub, sandbox } = await create()
    const session = await sandbox.open(signal)
    await stub.expire()
    expect(await session.run({ code: '1' }, signal)).toMatchObject({ outcome: 'crashed' })
    expect(session.alive).toBe(false)
  })

  it('is ended where Python does not start in it', async () => {
    const { stub, sandbox } = await create({ launch: endsAtOnce })
    const opening = sandbox.open(signal)
    await expect(opening).rejects.toMatchObject({ code: 'sandbox_unavailable' })
    expect(stub.sandboxes).toBe(0)
  })

  it('is ended if it takes no input any more, before the run’s deadline', async () => {
    const launch = () => ({ ...fakeInterpreter(), refusesInput: true })
    const { stub, sandbox } = await create({ launch, seconds: 50 })
    const session = await sandbox.open(signal)
    expect(await session.run({ code: '1' }, signal)).toMatchObject({ outcome: 'crashed' })
    expect(stub.sandboxes).toBe(0)
  })

  it('is ended if its caller stops waiting for a silent daemon', async () => {
    const launch = () => ({ ...fakeInterpreter(), isSilent: true })
    const { stub, sandbox } = await create({ launch })
    const late = AbortSignal.timeout(300)
    await expect(sandbox.open(late)).rejects.toMatchObject({ name: 'TimeoutError' })
    expect(stub.sandboxes).toBe(0)
  })

  it('is ended with the server', async () => {
    const { stub, sandbox } = await create()
    await Promise.all([sandbox.open(signal), sandbox.open(signal)])
    expect(stub.sandboxes).toBe(2)
    await sandbox.close()
    expect(stub.sandboxes).toBe(0)
  })

  it('says what to do where the key is wrong', async () => {
    const { sandbox } = await create({ key: 'another' })
    const refusal = { code: 'sandbox_unavailable', message: expect.stringContaining('E2B_API_KEY') }
    await expect(sandbox.check(signal)).rejects.toMatchObject(refusal)
    await expect(sandbox.open(signal)).rejects.toMatchObject(refusal)
  })

  it('says what to do where nobody answers', async () => {
    const { stub, sandbox } = await create()
    await stub.close()
    await expect(sandbox.check(signal)).rejects.toMatchObject({
      code: 'sandbox_unavailable',
      message: expect.stringContaining('E2B_API_URL'),
    })
  })
})

const END = Buffer.concat([Buffer.of(2), encodeEnvelope({}).subarray(1)])
const FAILURE = Buffer.concat([Buffer.of(2), encodeEnvelope({ error: { code: 'x' } }).subarray(1)])

const read = (...chunks: Buffer[]) => Array.fromAsync(decodeEnvelopes(streamOf(chunks)))

async function* streamOf(chunks: readonly Buffer[]) {
  yield* chunks
}

describe('The messages of a stream', () => {
  it('are read to the end, however the bytes are split', async () => {
    const bytes = Buffer.concat([encodeEnvelope({ n: 1 }), encodeEnvelope({ n: 2 }), END])
    expect(await read(bytes)).toEqual([{ n: 1 }, { n: 2 }])
    expect(await read(...[...bytes].map((byte) => Buffer.of(byte)))).toEqual([{ n: 1 }, { n: 2 }])
  })

  it.each([
    ['ends with an error', [encodeEnvelope({ n: 1 }), FAILURE]],
    ['breaks off', [encodeEnvelope({ n: 1 })]],
    ['breaks off within a message', [encodeEnvelope({ n: 1 }).subarray(0, 7)]],
    ['holds a message that is far too long', [Buffer.of(0, 0xff, 0xff, 0xff, 0xff)]],
    ['holds no JSON', [Buffer.of(0, 0, 0, 0, 1, 0x7b)]],
  ])('are refused where the stream %s', async (_case, chunks) => {
    await expect(read(...chunks)).rejects.toThrow()
  })
})
