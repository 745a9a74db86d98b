import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readText } from '../../../test/deploy/deployment-files.ts'
import { createSeededRandom } from '../../../test/e2e/crash/seeded-random.ts'
import { long, someOf } from '../../../test/support/long.ts'
import { type Deployment, generate, TARGET_NAMES } from '../src/generate.ts'
import { refusalsOf, warningsOf } from '../src/problems.ts'
import { compose } from '../src/targets/compose.ts'
import { kubernetes } from '../src/targets/kubernetes.ts'
import { agentOf, FULL_AGENT, filesOf, full, minimal, SECRETS, settingsOf } from './deployments.ts'

/** `DEPLOY_SEED` tries other ones. */
const SEED = Number(process.env.DEPLOY_SEED ?? 1)

describe.each(TARGET_NAMES)('A deployment to %s', (target) => {
  it.each([
    ['minimal', minimal],
    ['full', full],
  ])('of the %s agent is what its golden file says', async (size, make) => {
    const { Dockerfile, 'Dockerfile.dockerignore': _ignored, ...files } = filesOf(make(target))
    if (Dockerfile !== undefined) expect(Dockerfile).toBe(readText('Dockerfile'))
    const text = Object.entries(files).map(([name, content]) => `=== ${name}\n${content}\n`)
    await expect(text.join('')).toMatchFileSnapshot(`golden/${target}-${size}.txt`)
  })

  it('has a step for DNS records, with the domain, only if there is a domain', () => {
    const steps = (made: Deployment) =>
      'commands' in made ? made.commands.map(({ title, run }) => `${title}: ${run}`) : []
    const ofDomain = steps(full(target)).filter((step) => step.includes('agent.example.org'))
    expect(ofDomain.join()).toMatch(/DNS record|CNAME record/)
    expect(ofDomain.join()).toMatch(/certificate/i)
    expect(steps(minimal(target)).join()).not.toMatch(/DNS|undefined/)
  })

  it('holds no value of a secret, and names every one', () => {
    const made = full(target)
    const text = JSON.stringify(made)
    const values = [...Object.values(SECRETS), 'the-key-of-the-server', 'the-password']
    for (const value of values) expect(text).not.toContain(value)
    const guide = filesOf(made)['DEPLOY.md'] ?? ''
    expect(made).toHaveProperty('secrets')
    for (const name of 'secrets' in made ? made.secrets : []) expect(guide).toContain(name)
    expect(guide).toContain('FILES_TOKEN')
  })

  it('is refused if a secret’s value would still be written', () => {
    const variables = {
      ...engines(),
      CHAT_API_KEY: 'owls-and-otters',
      CHAT_MODEL: 'owls-and-otters',
    }
    const agent = agentOf({ tools: { run_python: false } })
    expect(generate(agent, settingsOf(variables), target)).toMatchObject({
      refusals: [{ field: 'CHAT_API_KEY' }],
    })
  })
})

describe('Values of secrets', () => {
  const random = createSeededRandom(SEED)
  const letters = [...'abcdefghijklmnopqrstuvwxyz0123456789-_/+=.:@ $"\'\\']
  const value = () =>
    Array.from({ length: random.between(8, 40) }, () => random.pick(letters)).join('')

  /** Settings with secrets, and how each of these may be written. */
  const invent = () => {
    const names = Object.keys(SECRETS).filter(
      (name) => !name.endsWith('_URL') && random.chance(0.7),
    )
    const values = Object.fromEntries(names.map((name) => [name, value()]))
    const [password, parameter] = [encodeURIComponent(value()), encodeURIComponent(value())]
    const secrets = [...Object.values(values), password, parameter]
    const settings = settingsOf({
      ...values,
      ...engines(),
      WEBHOOK_URL: `https://hooks.example.org/${password}`,
      DATABASE_URL: `postgres://agent:${password}@db.example.org/agent`,
      EMBEDDING_BASE_URL: `https://models.example.org/v1?key=${parameter}`,
    })
    return { settings, written: secrets.flatMap((one) => [one, JSON.stringify(one).slice(1, -1)]) }
  }

  it.each(someOf(TARGET_NAMES, 3))(
    `are in no file, command, warning or refusal of %s, whatever they are (DEPLOY_SEED=${SEED})`,
    long,
    (target) => {
      for (let round = 0; round < 40; round += 1) {
        const { settings, written } = invent()
        const agent = agentOf(random.chance(0.5) ? FULL_AGENT : { tools: { run_python: false } })
        const made = generate(agent, settings, target)
        const files = 'files' in made ? Object.values(made.files) : []
        const text = [JSON.stringify(made), ...files].join('\n')
        for (const one of written) expect(text).not.toContain(one)
      }
    },
  )
})

describe('Refusals', () => {
  it.each([
    ['workers', 'fly'],
    ['vercel', 'render'],
    ['lambda', 'aws'],
  ])('take %s by name, with what to take instead', (target, instead) => {
    const made = generate(agentOf(), settingsOf(), target)
    expect(made).toMatchObject({ refusals: [{ field: 'target' }] })
    expect(JSON.stringify(made)).toContain(instead)
  })

  it.each(['heroku', 'constructor'])('take %s, which nobody knows', (target) => {
    expect(JSON.stringify(generate(agentOf(), settingsOf(), target))).toContain('compose')
  })

  it.each([
    ['a key in the prompt', { prompt: `Use sk-${'a1'.repeat(20)}` }, 'prompt'],
    ['a key in a URL', mcp({ url: 'https://a.example.org/?api_key=secret' }), 'mcpServers.a.url'],
    [
      'a secret as the default of a variable',
      mcp({ url: 'https://a.example.org', headers: { 'X-Token': `${'$'}{TOKEN:-owl}` } }),
      'mcpServers.a.headers.X-Token',
    ],
    ['an MCP server on this machine', mcp({ url: 'http://localhost:8080' }), 'mcpServers.a.url'],
    ['a skill outside the project', { skills: { sources: ['../skills'] } }, 'skills.sources'],
    ['a skill by its whole path', { skills: { sources: ['/skills'] } }, 'skills.sources'],
    [
      'a plugin that is not there',
      { plugins: ['./plugins/a.ts'] },
      'plugins',
      { missing: ['plugins/a.ts'] },
    ],
    [
      'an agent file outside the project',
      { skills: { sources: [] } },
      'AGENT_CONFIG',
      { path: '../agent.json' },
    ],
    ['bubblewrap in a container', { sandbox: 'bubblewrap' }, 'sandbox'],
    ['E2B without a key', { sandbox: 'e2b' }, 'E2B_API_KEY'],
  ])('take %s, and name the field', (_case, agent, field, more?: object) => {
    const made = generate(agentOf(agent, more), settingsOf(), 'compose')
    expect(made).toMatchObject({ refusals: [{ field, remedy: expect.stringMatching(/./) }] })
  })

  it.each([
    ['a model on this machine', { CHAT_BASE_URL: 'http://127.0.0.1:11434/v1' }, 'CHAT_BASE_URL'],
    [
      'an embedder in a private network',
      { EMBEDDING_BASE_URL: 'http://10.0.0.8/v1' },
      'EMBEDDING_BASE_URL',
    ],
    [
      'a reranker at the host of a gateway',
      { RERANK_BASE_URL: 'http://gateway.docker.internal' },
      'RERANK_BASE_URL',
    ],
    [
      'a webhook at the host of the container, which the server would not call',
      { WEBHOOK_URL: 'http://host.docker.internal/hook' },
      'WEBHOOK_URL',
    ],
    ['a database on this machine', { DATABASE_URL: 'postgres://a:b@localhost/a' }, 'DATABASE_URL'],
    ['an index in a home', { QDRANT_URL: 'http://qdrant.local:6333' }, 'QDRANT_URL'],
    ['a webhook of IPv6’s own', { WEBHOOK_URL: 'http://[fd00::8]/hook' }, 'WEBHOOK_URL'],
    [
      'the next embedder',
      { EMBEDDING_BASE_URL_NEXT: 'http://172.16.0.1' },
      'EMBEDDING_BASE_URL_NEXT',
    ],
    ['a sandbox on this machine', { E2B_API_URL: 'http://localhost:49999' }, 'E2B_API_URL'],
  ])('take %s, and name the variable', (_case, variables, field) => {
    const made = generate(agentOf(), settingsOf(variables), 'compose')
    expect(made).toMatchObject({ refusals: [{ field }] })
  })

  it.each([
    ['more than one instance on one disk', { instances: 2 }, '--instances'],
    ['scaling to zero, where ingestion would stop', { instances: 0 }, '--instances'],
    ['a folder outside the project', { folder: '../out' }, '--out'],
  ])('take %s', (_case, more, field) => {
    const made = generate(agentOf(), settingsOf({}, more), 'compose')
    expect(made).toMatchObject({ refusals: [{ field }] })
  })

  const harsh = (facts: object) => ({ ...compose, facts: { ...compose.facts, ...facts } })
  it.each([
    ['storage that is lost', { storage: 'none' }, {}, {}, ['DATABASE_URL', 'QDRANT_URL']],
    ['answers longer than a request may live', { requestSeconds: 359 }, {}, {}, ['limits.seconds']],
    ['silence longer than a connection may have', { silenceSeconds: 15 }, {}, {}, ['target']],
    [
      'a grace longer than the platform has',
      { killSeconds: 10 },
      { SHUTDOWN_GRACE: '7' },
      { grace: 7 },
      ['SHUTDOWN_GRACE'],
    ],
    [
      'a file larger than the platform takes',
      { bodyBytes: 1_000_000 },
      { FILE_LIMIT: '1000001' },
      { fileLimit: 1_000_001 },
      ['FILE_LIMIT'],
    ],
    ['code on a serverless platform', { isServerless: true }, {}, {}, ['sandbox']],
  ])('take %s', (_case, facts, variables, more, fields) => {
    const found = refusalsOf(agentOf(), settingsOf(variables, more), harsh(facts))
    expect(found.map(({ field }) => field)).toEqual(fields)
    expect(refusalsOf(agentOf(), settingsOf(variables, more), compose)).toEqual([])
  })

  it.each([
    ['a host without dots where services have no names', 'fly', { CHAT_BASE_URL: 'http://ollama' }],
    ['more instances than its files run', 'compose', engines(), { instances: 2 }],
    ['a sandbox that only a machine of one’s own has', 'fly', {}, {}, { sandbox: 'docker' }],
  ])('take %s', (_case, target, variables, more?: object, agent?: object) => {
    const refused = (where: string, settings: object | undefined) =>
      'refusals' in generate(agentOf(agent), settingsOf(variables, settings), where)
    expect(refused(target, more)).toBe(true)
    expect(refused(target === 'fly' ? 'compose' : 'kubernetes', more)).toBe(false)
  })

  it('are listed together', () => {
    const agent = agentOf(FULL_AGENT, { missing: ['plugins/weather.ts'] })
    const made = generate(agent, settingsOf({}, { instances: 0 }), 'compose')
    expect('refusals' in made && made.refusals.map(({ field }) => field)).toEqual([
      '--instances',
      'E2B_API_KEY',
      'plugins',
    ])
  })

  it('are absent if a remote sandbox runs the code of a serverless deployment', () => {
    const settings = settingsOf({ E2B_API_KEY: SECRETS.E2B_API_KEY })
    expect(refusalsOf(agentOf(), settings, harsh({ isServerless: true }))).toEqual([])
    const off = agentOf({ tools: { run_python: false } })
    expect(refusalsOf(off, settingsOf(), harsh({ isServerless: true }))).toEqual([])
  })

  it('are absent for a server default, which is lowered and reported', () => {
    const facts = { killSeconds: 10, bodyBytes: 32_000_000, silenceSeconds: 60 }
    expect(refusalsOf(agentOf(), settingsOf(), harsh(facts))).toEqual([])
    const warned = warningsOf(agentOf(), settingsOf(), harsh(facts)).map(({ field }) => field)
    expect(warned).toEqual([
      'limits.seconds',
      'CHAT_MODEL',
      'DATABASE_URL',
      'SHUTDOWN_GRACE',
      'FILE_LIMIT',
    ])
  })

  it('are a warning if the platform may or may not end a request', () => {
    const target = harsh({ requestSeconds: 240, isRequestDoubtful: true })
    expect(refusalsOf(agentOf(), settingsOf(), target)).toEqual([])
    expect(warningsOf(agentOf(), settingsOf(), target)).toContainEqual(
      expect.objectContaining({ field: 'limits.seconds', remedy: 'set it to at most 180' }),
    )
  })
})

describe('What is deployed', () => {
  it('does not receive this machine’s container engine, folders and ports', () => {
    const own = {
      DOCKER_HOST: 'unix:///run/own.sock',
      DATA_DIR: '/own',
      PORT: '4711',
      HOST: '::1',
      WATCH_FOLDERS: '/srv/handbook',
    }
    const warned = warningsOf(agentOf(), settingsOf(own), kubernetes).map(({ field }) => field)
    expect(warned).toContain('WATCH_FOLDERS')
    for (const target of ['compose', 'fly', 'kubernetes']) {
      const text = JSON.stringify(generate(agentOf(), settingsOf(own), target))
      for (const value of Object.values(own)) expect(text).not.toContain(value)
    }
  })

  it('reaches a model beside it by the name of its machine, where there is one', () => {
    const beside = settingsOf({
      CHAT_BASE_URL: 'http://host.docker.internal:11434/v1',
      CHAT_API_KEY: 'any',
    })
    const { 'compose.yaml': file = '' } = filesOf(generate(agentOf(), beside, 'compose'))
    expect(parse(file).services['agent-server']).toMatchObject({
      environment: { CHAT_BASE_URL: 'http://host.docker.internal:11434/v1' },
      extra_hosts: ['host.docker.internal:host-gateway'],
    })
    const refused = { refusals: [{ field: 'CHAT_BASE_URL' }] }
    expect(generate(agentOf(), beside, 'fly')).toMatchObject(refused)
    const local = settingsOf({ CHAT_BASE_URL: 'http://localhost:11434/v1' })
    expect(generate(agentOf(), local, 'compose')).toMatchObject({
      refusals: [{ remedy: expect.stringContaining('host.docker.internal') }],
    })
  })

  it('trusts as many proxies as the platform has, or those configured', () => {
    const made = (variables: Record<string, string>) => {
      const { 'fly.toml': file } = filesOf(generate(agentOf(), settingsOf(variables), 'fly'))
      return /TRUST_PROXY = (.*)/.exec(file ?? '')?.[1]
    }
    expect(made({})).toBe('"2"')
    expect(made({ TRUST_PROXY: '3' })).toBe('"3"')
    const warned = warningsOf(agentOf(), settingsOf(), kubernetes).map(({ field }) => field)
    expect(warned).toContain('TRUST_PROXY')
  })
})

describe('The password of a database that is deployed along', () => {
  it('is generated, and written to .env without characters that Compose would expand', () => {
    const guide = filesOf(full('compose'))['DEPLOY.md'] ?? ''
    expect(guide).toContain(
      `echo "POSTGRES_PASSWORD='$(openssl rand -hex 24)'" >> deployment/compose/.env`,
    )
  })
})

describe('The image', () => {
  it('holds the agent’s files where they usually are', () => {
    const ignored = readText('.dockerignore').split('\n')
    expect(ignored).toEqual(
      expect.arrayContaining(['!agent.json', '!skills', '!plugins', '!forms']),
    )
    expect(readText('Dockerfile')).toContain('COPY . ./')
  })

  it('takes in the agent’s own files, wherever they are, and never what is secret', () => {
    const ignored = filesOf(full('compose'))['Dockerfile.dockerignore']?.split('\n') ?? []
    for (const path of ['!config/agent.json', '!config/more/skills', '!config/plugins']) {
      expect(ignored).toContain(path)
    }
    expect(ignored.indexOf('**/.env')).toBeGreaterThan(ignored.indexOf('!config/plugins'))
  })
})

function mcp(server: object) {
  return { mcpServers: { a: { ...server, enabled: true } } }
}

function engines() {
  return { DATABASE_URL: SECRETS.DATABASE_URL, QDRANT_URL: 'https://qdrant.example.org:6333' }
}
