import { describe, expect, it } from 'vitest'
import { readSandboxSettings, SandboxSection } from '../../src/agent/sandbox-settings.ts'

describe('The section sandbox of agent.json', () => {
  it('may be just the name of a kind', () => {
    expect(readSandboxSettings('docker')).toEqual(
      readSandboxSettings(SandboxSection.parse({ kind: 'docker' })),
    )
  })

  it('has a default for everything', () => {
    expect(SandboxSection.parse({})).toEqual({
      kind: 'auto',
      sessions: 16,
      idleSeconds: 300,
      image: 'agent-server-sandbox',
      template: 'code-interpreter-v1',
      limits: {
        seconds: 30,
        cpus: 1,
        memoryMegabytes: 256,
        processes: 64,
        fileMegabytes: 64,
        outputKilobytes: 64,
      },
    })
  })
})
