import pg from 'pg'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { TARGET_NAMES } from '../../packages/deploy/src/generate.ts'
import { filesOf, full, minimal } from '../../packages/deploy/test/deployments.ts'
import { connectionSettings } from '../../packages/stores/src/postgres/connection.ts'
import { VARIABLE_NAMES } from '../../src/config.ts'
import { readText } from './deployment-files.ts'

describe.each([minimal, full])('What is generated %o', (make) => {
  it.each(TARGET_NAMES)('for %s gives the server variables that it knows', (target) => {
    const files = Object.entries(filesOf(make(target))).filter(([name]) =>
      /\.(?:ya?ml|toml)$/.test(name),
    )
    const text = files.map(([, content]) => content).join('\n')
    const names = text.matchAll(
      /\b(?:CHAT|EMBEDDING|SERVER|DATABASE|E2B|WEBHOOK|SHUTDOWN|FILE)_[A-Z_]+\b/g,
    )
    const unknown = Array.from(names, ([name]) => name).filter(
      (name) => !VARIABLE_NAMES.includes(name) && name !== 'FILES_TOKEN',
    )
    expect(unknown).toEqual([])
  })
})

describe('The password of a database that is deployed along', () => {
  it.each(['deployment', 'docker-compose.yml with engines.env', 'docker-compose.cluster.yml'])(
    'reaches it with every character: %s',
    (where) => {
      const text = {
        deployment: filesOf(full('compose'))['compose.yaml'],
        'docker-compose.yml with engines.env': `${readText('docker-compose.yml')}${readText('deploy/engines.env')}`,
        'docker-compose.cluster.yml': readText('docker-compose.cluster.yml'),
      }[where]
      expect(text).toMatch(/PGPASSWORD: \$\{POSTGRES_PASSWORD:/)
      const [, url = ''] = /DATABASE_URL(?:: |=)(postgres:\S+)/.exec(text ?? '') ?? []
      const password = `p@ss/w?o#r:d%41$x"'\\`
      vi.stubEnv('PGPASSWORD', password)
      onTestFinished(() => void vi.unstubAllEnvs())
      expect(new pg.Client(connectionSettings(url))).toMatchObject({
        user: 'agent',
        host: 'postgres',
        database: 'agent',
        password,
      })
    },
  )
})
