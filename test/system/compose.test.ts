import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { runCommand } from './docker.ts'

const hasCompose = spawnSync('docker', ['compose', 'version']).status === 0
const SETTINGS = {
  SERVER_API_KEY: 'a-key-for-tests-only',
  POSTGRES_PASSWORD: 'word1',
  QDRANT_API_KEY: 'key1',
}
const CLUSTER = ['--file', 'docker-compose.cluster.yml']
const ENGINES = ['--env-file', 'deploy/engines.env']

const Resolved = z.object({
  services: z.record(
    z.string(),
    z.looseObject({ environment: z.record(z.string(), z.string().nullable()).optional() }),
  ),
})

/** What Compose makes of a file; nothing is started. */
function config(parameters: readonly string[], settings: Record<string, string> = SETTINGS) {
  const given = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
  const kept = ['PATH', 'HOME', 'DOCKER_CONFIG'].map((name) => `${name}=${process.env[name] ?? ''}`)
  const asked = ['docker', 'compose', ...parameters, 'config', '--format', 'json']
  return runCommand('env', ['-i', ...kept, ...given, ...asked])
}

async function servicesOf(...parameters: string[]) {
  const { code, stdout, stderr } = await config(parameters)
  expect(stderr).not.toMatch(/level=error|is not allowed|unsupported/)
  expect(code, stderr).toBe(0)
  return Resolved.parse(JSON.parse(stdout)).services
}

describe.skipIf(!hasCompose)('Docker Compose (needs Docker Compose 2)', () => {
  it('takes the server alone', async () => {
    const services = await servicesOf('--env-file', '.env.example')
    expect(Object.keys(services)).toEqual(['agent-server'])
    expect(services['agent-server']?.environment).toMatchObject({
      SERVER_API_KEY: SETTINGS.SERVER_API_KEY,
    })
  })

  it('takes the server with its engines, and fills in where they are', async () => {
    const services = await servicesOf(...ENGINES)
    expect(Object.keys(services).toSorted()).toEqual(['agent-server', 'postgres', 'qdrant'])
    expect(services['agent-server']?.environment).toMatchObject({
      DATABASE_URL: 'postgres://agent:word1@postgres:5432/agent',
      QDRANT_URL: 'http://qdrant:6333',
    })
  })

  it('takes the cluster', async () => {
    const services = await servicesOf(...CLUSTER)
    expect(Object.keys(services).toSorted()).toEqual([
      ...['agent-server-1', 'agent-server-2', 'postgres', 'proxy'],
      ...['qdrant-1', 'qdrant-2', 'qdrant-3'],
    ])
    for (const name of ['agent-server-1', 'agent-server-2']) {
      expect(services[name]?.environment).toMatchObject({ QDRANT_URL: 'http://proxy:6333' })
    }
  })

  it.each([
    ['the server', [], 'SERVER_API_KEY'],
    ['the cluster', CLUSTER, 'SERVER_API_KEY|POSTGRES_PASSWORD|QDRANT_API_KEY'],
  ])('refuses %s where a secret is missing, and names it', async (_what, parameters, missing) => {
    const { code, stderr } = await config(parameters, {})
    expect(code).not.toBe(0)
    expect(stderr).toMatch(new RegExp(missing))
  })
})
