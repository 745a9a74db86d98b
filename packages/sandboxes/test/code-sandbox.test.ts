import { describe, expect, it, onTestFinished } from 'vitest'
import { createCodeSandbox } from '../src/code-sandbox.ts'
import { SandboxLimits } from '../src/limits.ts'
import { createFakeSandbox } from './fake-sandbox.ts'

const { signal } = new AbortController()
const log = { info: () => undefined, warn: () => undefined }

function create(...fakes: ReturnType<typeof createFakeSandbox>[]) {
  const settings = {
    kind: 'auto' as const,
    limits: SandboxLimits.parse({}),
    sessions: 16,
    idleSeconds: 300,
  }
  const candidates = fakes.map(({ sandbox }) => sandbox)
  const code = createCodeSandbox({ settings, candidates, log })
  onTestFinished(() => code.close())
  return code
}

describe('The sandbox of the agent', () => {
  it('is the strongest that works', async () => {
    const [docker, embedded] = [createFakeSandbox('docker'), createFakeSandbox('embedded')]
    docker.state.broken = true
    const code = create(docker, embedded)
    expect(await code.record()).toMatchObject({ kind: 'embedded', state: 'on' })
    expect(code.unavailable()).toBeUndefined()
    await code.run('a', { code: '1', owner: undefined }, signal)
    expect(docker.sessions).toEqual([])
    expect(embedded.sessions).toHaveLength(1)
  })

  it('is replaced once it stops working', async () => {
    const [docker, embedded] = [createFakeSandbox('docker'), createFakeSandbox('embedded')]
    const code = create(docker, embedded)
    expect(await code.record()).toMatchObject({ kind: 'docker' })
    docker.state.broken = true
    await expect(code.run('a', { code: '1', owner: undefined }, signal)).rejects.toMatchObject({
      code: 'sandbox_unavailable',
    })
    expect(await code.run('a', { code: '1', owner: undefined }, signal)).toMatchObject({
      fresh: true,
    })
    expect(await code.record()).toMatchObject({ kind: 'embedded' })
  })

  it('ends with the conversation that had it, and with no other', async () => {
    const fake = createFakeSandbox()
    const code = create(fake)
    await code.run('a', { code: '1', owner: undefined }, signal)
    await code.run('b', { code: '1', owner: undefined }, signal)
    await code.end('a')
    await code.end('unknown')
    expect(fake.sessions.map(({ alive }) => alive)).toEqual([false, true])
  })

  it('reports why there is none', async () => {
    const docker = createFakeSandbox('docker')
    docker.state.broken = true
    const code = create(docker)
    expect(code.unavailable()).toBeUndefined()
    expect(await code.record()).toMatchObject({
      state: 'unavailable',
      reason: 'There is no docker here',
    })
    expect(code.unavailable()).toBe('There is no docker here')
  })

  it('is off where the configuration says so', async () => {
    const code = create()
    const reason = 'the sandbox is disabled in agent.json'
    expect(await code.record()).toEqual({ kind: 'none', state: 'off', reason })
    expect(code.unavailable()).toBe(reason)
    await expect(code.verify(signal)).rejects.toMatchObject({ code: 'sandbox_unavailable' })
  })

  it('fails its verification if nothing runs', async () => {
    const fake = createFakeSandbox()
    const code = create(fake)
    const report = await code.verify(signal)
    expect(report).toMatchObject({ kind: 'embedded', ok: false })
    const failed = report.probes.filter(({ ok }) => !ok).map(({ name }) => name)
    expect(failed).toEqual(['computation', 'files', 'output', 'time-out'])
    expect(report.probes.filter(({ ok, remedy }) => !ok && !remedy)).toEqual([])
    expect(await code.record()).toMatchObject({ verified: report })
  })

  it('is verified once for all who ask at the same time', async () => {
    const code = create(createFakeSandbox())
    const [one, other] = await Promise.all([code.verify(signal), code.verify(signal)])
    expect(one).toBe(other)
  })

  it('that fails to open is reported in its verification', async () => {
    const fake = createFakeSandbox()
    const code = create(fake)
    await code.record()
    fake.state.broken = true
    expect(await code.verify(signal)).toMatchObject({
      ok: false,
      probes: [{ name: 'start', remedy: 'There is no embedded here' }],
    })
  })

  it('is closed with the server', async () => {
    const fake = createFakeSandbox()
    const code = create(fake)
    await code.run('a', { code: '1', owner: undefined }, signal)
    await code.close()
    expect(fake.state.closed).toBe(true)
    expect(fake.sessions.map(({ alive }) => alive)).toEqual([false])
  })
})
