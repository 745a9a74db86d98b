import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SandboxProbeResult, SandboxReport } from '../../src/schemas/sandbox.ts'
import { startServer } from '../support/server.ts'
import { writeAgentFile } from '../support/temporary-files.ts'
import { hasEngine, usePythonImage } from './docker.ts'

const PROBES = SandboxProbeResult.shape.name.options.slice(1)

/** What a whole server answers whose agent.json has this section. */
async function verify(sandbox: object, environment: Record<string, string> = {}) {
  const file = await writeAgentFile({ sandbox })
  const server = await startServer({ AGENT_CONFIG: file, ...environment })
  const response = await server.request('/agent/sandbox/verify', { method: 'POST' })
  expect(response.status).toBe(200)
  return SandboxReport.parse(await response.json())
}

function expectAllOk({ ok, probes }: SandboxReport): void {
  expect(probes.filter((probe) => !probe.ok)).toEqual([])
  expect(probes.map(({ name }) => name)).toEqual(PROBES)
  expect(ok).toBe(true)
}

describe.skipIf(!existsSync('/usr/bin/bwrap'))(
  'POST /agent/sandbox/verify on bubblewrap (needs bubblewrap)',
  () => {
    it('passes every probe', async () => {
      const report = await verify({ kind: 'bubblewrap' })
      expect(report.kind).toBe('bubblewrap')
      expectAllOk(report)
    })
  },
)

describe.skipIf(!hasEngine())(
  'POST /agent/sandbox/verify on docker (needs a Docker engine)',
  () => {
    const image = usePythonImage()

    it('passes every probe', async () => {
      const host = process.env.DOCKER_HOST
      const report = await verify({ kind: 'docker', image }, host ? { DOCKER_HOST: host } : {})
      expect(report.kind).toBe('docker')
      expectAllOk(report)
    })
  },
)
