import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AgentConfiguration } from '../../src/agent/configuration.ts'
import { composeSandbox } from '../../src/compose/capabilities.ts'
import { loadConfig } from '../../src/config.ts'

const log = pino({ level: 'silent' })

/** The record of the sandbox that a section of agent.json leads to. */
async function recordOf(sandbox: unknown, environment: Record<string, string> = {}) {
  const { sandbox: section } = AgentConfiguration.parse({ sandbox })
  const required = { SERVER_API_KEY: 'a-key-of-16-characters', CHAT_MODEL: 'extractive' }
  const config = loadConfig({ ...required, ...environment })
  const code = await composeSandbox(config, section, log)
  onTestFinished(() => code.close())
  return code.record()
}

const NOWHERE = { DOCKER_HOST: 'unix:///nowhere/socket', E2B_API_URL: 'http://127.0.0.1:1' }

describe('The section sandbox of agent.json', () => {
  it('switches code off', async () => {
    expect(await recordOf('none')).toMatchObject({ kind: 'none', state: 'off' })
  })

  it('names the one kind that is tried', async () => {
    expect(await recordOf('docker', NOWHERE)).toMatchObject({
      kind: 'docker',
      state: 'unavailable',
      reason: 'No container engine responds: start it, or set DOCKER_HOST',
    })
    expect(await recordOf({ kind: 'embedded' })).toMatchObject({ kind: 'embedded', state: 'on' })
  })

  it('goes on to the next kind with auto, and finds one everywhere', async () => {
    const environment = { ...NOWHERE, E2B_API_KEY: 'a-key' }
    const record = await recordOf('auto', environment)
    expect(record.state).toBe('on')
    expect(['bubblewrap', 'embedded']).toContain(record.kind)
  })

  it('takes the key of E2B for a wish only where the kind says so', async () => {
    const refusal = {
      kind: 'e2b',
      state: 'unavailable',
      reason: expect.stringMatching(/E2B_API_URL/),
    }
    expect(await recordOf('e2b', { ...NOWHERE, E2B_API_KEY: 'a-key' })).toMatchObject(refusal)
  })

  it('hands its limits on', async () => {
    const limits = { seconds: 7, memoryMegabytes: 100 }
    expect(await recordOf({ kind: 'embedded', limits })).toMatchObject({ limits })
  })

  it.each([
    ['another kind', 'vm'],
    ['a limit that is none', { limits: { seconds: 0 } }],
    ['a limit that there is not', { limits: { minutes: 1 } }],
    ['a hash that is none', { interpreter: { path: 'x', sha256: 'x' } }],
  ])('is refused with %s', (_case, sandbox) => {
    expect(AgentConfiguration.safeParse({ sandbox }).success).toBe(false)
  })
})
