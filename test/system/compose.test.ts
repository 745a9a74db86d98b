import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { ingester, requester } from '../support/server.ts'
import { freePort } from '../support/server-process.ts'
import { COMPOSE, docker, hasEngine, runCommand } from './docker.ts'

/** From 2.20 on it knows `required`, by which the server waits for engines that may not be there. */
const isFirst = COMPOSE?.length === 1
const SETTINGS = {
  SERVER_API_KEY: 'a-key-for-tests-only',
  POSTGRES_PASSWORD: 'word1',
  QDRANT_API_KEY: 'key1',
}
/** What Docker itself goes by. */
const KEPT = ['PATH', 'HOME', 'DOCKER_CONFIG', 'DOCKER_HOST']
const CLUSTER = ['--file', 'docker-compose.cluster.yml']
const ENGINES = ['--env-file', 'deploy/engines.env']

const Resolved = z.object({
  services: z.record(
    z.string(),
    z.looseObject({ environment: z.record(z.string(), z.string().nullable()).optional() }),
  ),
})

/** Runs Compose with these variables and no others. */
function run(parameters: readonly string[], settings: Record<string, string>) {
  const given = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
  const kept = KEPT.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [`${name}=${value}`]
  })
  return runCommand('env', ['-i', ...kept, ...given, ...(COMPOSE ?? []), ...parameters])
}

/** What Compose makes of a file; nothing is started. */
function config(parameters: readonly string[], settings: Record<string, string> = SETTINGS) {
  return run([...parameters, 'config'], settings)
}

async function servicesOf(...parameters: string[]) {
  const { code, stdout, stderr } = await config(parameters)
  expect(stderr).not.toMatch(/level=error|is not allowed|unsupported/)
  expect(code, stderr).toBe(0)
  return Resolved.parse(parse(stdout)).services
}

describe.skipIf(!COMPOSE || isFirst)('Docker Compose (needs Docker Compose 2.20)', () => {
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

  it('refuses the server where its key is missing, and names it', async () => {
    const { code, stderr } = await config([], {})
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/SERVER_API_KEY/)
  })
})

describe.skipIf(!COMPOSE)('Any Docker Compose (needs Docker Compose)', () => {
  it.runIf(isFirst)(
    'refuses the server in its first version, for one word (needs Docker Compose 1)',
    async () => {
      const { code, stderr } = await config([])
      expect(code).not.toBe(0)
      expect(stderr.match(/unsupported option.*/g)).toEqual(["unsupported option: 'required'"])
    },
  )

  it('takes the cluster', async () => {
    const services = await servicesOf(...CLUSTER)
    expect(Object.keys(services).toSorted()).toEqual([
      'agent-server-1',
      'agent-server-2',
      'postgres',
      'proxy',
      'qdrant-1',
      'qdrant-2',
      'qdrant-3',
    ])
    for (const name of ['agent-server-1', 'agent-server-2']) {
      expect(services[name]?.environment).toMatchObject({ QDRANT_URL: 'http://proxy:6333' })
    }
  })

  it('refuses the cluster where a secret is missing, and names it', async () => {
    const { code, stderr } = await config(CLUSTER, {})
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/SERVER_API_KEY|POSTGRES_PASSWORD|QDRANT_API_KEY/)
  })
})

describe.skipIf(!COMPOSE || isFirst || !hasEngine())(
  'The server under Docker Compose (needs Docker Compose 2.20 and a Docker engine)',
  () => {
    it('is built, becomes healthy, answers on this machine, and keeps its documents when it is started anew', async () => {
      const project = `agent-server-test-${randomUUID().slice(0, 8)}`
      const port = await freePort()
      const settings = { ...SETTINGS, CHAT_MODEL: 'extractive', PORT: port }
      const compose = async (...parameters: string[]) => {
        const { code, stderr } = await run(['--project-name', project, ...parameters], settings)
        expect(code, stderr).toBe(0)
      }
      onTestFinished(() => compose('down', '--volumes', '--timeout', '20'))
      const built = await docker('build', '--network', 'host', '--tag', 'agent-server', '.')
      expect(built.code, built.stderr).toBe(0)
      await compose('up', '--detach', '--no-build', '--wait')

      const request = requester(`http://127.0.0.1:${port}`, SETTINGS.SERVER_API_KEY)
      await ingester(request)({ text: 'Otters hold hands.' })
      await compose('stop')
      await compose('up', '--detach', '--no-build', '--wait')
      const found = await request('/query', { body: { query: 'otters' } })
      expect(await found.json()).toMatchObject({ hits: [{ text: 'Otters hold hands.' }] })
    })
  },
)
