import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { VARIABLE_NAMES } from '../../src/config.ts'
import { TARGET_NAMES } from '../../src/services/deployment/generate.ts'
import { filesOf, full, minimal } from './deployments.ts'
import { mistakesOf, OPTIONS, readSchema, SCHEMAS } from './schema-files.ts'

const fileOf = (make: typeof full, target: string, name: string) =>
  filesOf(make(target))[name] ?? ''
const yamlOf = (...given: Parameters<typeof fileOf>) => parse(fileOf(...given))

/** What the platforms' files are, by the schemas that their authors or users publish. */
const PUBLISHED = [
  ['cloud-run-v1.json', '#/$defs/Service', 'cloud-run', 'service.yaml'],
  ['fly.json', '', 'fly', 'fly.toml'],
  ['kustomization.json', '', 'kubernetes', 'kustomization.yaml'],
  ['azure-containerapp-template.json', '', 'azure', 'containerapp.yaml'],
] as const

describe.skipIf(!existsSync(SCHEMAS)).each(PUBLISHED)(
  'The schema %s%s (needs ../shared/schemas)',
  (schema, part, target, name) => {
    let isRight: ValidateFunction
    beforeAll(() => {
      const ajv = new Ajv(OPTIONS).addSchema(readSchema(schema), 'schema')
      isRight = ajv.compile({ $ref: `schema${part}` })
    })
    const read = (make: typeof full) => {
      if (name === 'fly.toml') return parseToml(fileOf(make, target, name))
      const content = yamlOf(make, target, name)
      return target === 'azure' ? content.properties.template : content
    }

    it.each([minimal, full])(`takes the ${name} that is generated`, (make) => {
      expect(mistakesOf(isRight, read(make))).toEqual([])
    })

    it('refuses what is of a wrong kind', () => {
      const spoilt = Object.entries(read(full)).map(([key, value]) => [
        key,
        typeof value === 'object' ? 'a' : { a: 1 },
      ])
      expect(mistakesOf(isRight, Object.fromEntries(spoilt))).not.toEqual([])
    })
  },
)

/** Of the files without a published schema that is to be had: the fields that are used, from the documentation. */
const Variable = z.union([
  z.strictObject({ key: z.string(), value: z.string() }),
  z.strictObject({ key: z.string(), sync: z.literal(false) }),
  z.strictObject({ key: z.string(), generateValue: z.literal(true) }),
])
const Blueprint = z.strictObject({
  services: z.tuple([
    z.strictObject({
      type: z.literal('web'),
      name: z.string(),
      runtime: z.literal('docker'),
      plan: z.enum(['starter', 'standard', 'pro']),
      dockerfilePath: z.string().startsWith('./'),
      dockerContext: z.string(),
      healthCheckPath: z.string().startsWith('/'),
      numInstances: z.int().min(1).optional(),
      disk: z.strictObject({ name: z.string(), mountPath: z.string(), sizeGB: z.int() }).optional(),
      envVars: z.array(Variable),
    }),
  ]),
})
const Railway = z.strictObject({
  $schema: z.url(),
  build: z.strictObject({ builder: z.literal('DOCKERFILE'), dockerfilePath: z.string() }),
  deploy: z.strictObject({
    healthcheckPath: z.string(),
    healthcheckTimeout: z.int(),
    restartPolicyType: z.enum(['ALWAYS', 'ON_FAILURE', 'NEVER']),
    numReplicas: z.int().min(1),
    drainingSeconds: z.int(),
    sleepApplication: z.literal(false),
    requiredMountPath: z.string().optional(),
  }),
})
const Sub = z.strictObject({ 'Fn::Sub': z.string() })
const Arn = z.strictObject({ 'Fn::GetAtt': z.tuple([z.string(), z.string()]) })
const Role = z.looseObject({ Type: z.literal('AWS::IAM::Role') })
const Stack = z.strictObject({
  AWSTemplateFormatVersion: z.literal('2010-09-09'),
  Parameters: z.strictObject({ Image: z.strictObject({ Type: z.literal('String') }) }),
  Resources: z.strictObject({
    ExecutionRole: Role,
    InfrastructureRole: Role,
    Service: z.strictObject({
      Type: z.literal('AWS::ECS::ExpressGatewayService'),
      Properties: z.strictObject({
        ServiceName: z.string(),
        ExecutionRoleArn: Arn,
        InfrastructureRoleArn: Arn,
        HealthCheckPath: z.string(),
        Cpu: z.string(),
        Memory: z.string(),
        ScalingTarget: z.strictObject({ MinTaskCount: z.int(), MaxTaskCount: z.int() }),
        PrimaryContainer: z.strictObject({
          Image: z.strictObject({ Ref: z.literal('Image') }),
          ContainerPort: z.int(),
          Environment: z.array(z.strictObject({ Name: z.string(), Value: z.string() })),
          Secrets: z.array(z.strictObject({ Name: z.string(), ValueFrom: Sub })),
        }),
      }),
    }),
  }),
  Outputs: z.strictObject({ Address: z.strictObject({ Value: Arn }) }),
})

const Kamal = z.strictObject({
  service: z.string(),
  image: z.string(),
  servers: z.strictObject({
    web: z.strictObject({
      hosts: z.array(z.string()),
      options: z.record(z.string(), z.union([z.string(), z.literal(true)])),
    }),
  }),
  registry: z.strictObject({
    server: z.string(),
    username: z.string(),
    password: z.tuple([z.string().regex(/^[A-Z_]+$/)]),
  }),
  builder: z.strictObject({ arch: z.string(), context: z.literal('.'), dockerfile: z.string() }),
  secrets_path: z.string(),
  env: z.strictObject({
    clear: z.record(z.string(), z.string()),
    secret: z.array(z.string().regex(/^\w+$/)),
  }),
  proxy: z.strictObject({
    host: z.string(),
    ssl: z.literal(true),
    app_port: z.int(),
    response_timeout: z.int(),
    healthcheck: z.strictObject({ path: z.string(), interval: z.int(), timeout: z.int() }),
    buffering: z.strictObject({ requests: z.literal(false), responses: z.literal(false) }),
  }),
  deploy_timeout: z.int(),
  drain_timeout: z.int(),
})

const Check = z.strictObject({
  http_path: z.string().startsWith('/'),
  period_seconds: z.int(),
  timeout_seconds: z.int(),
})
const Env = { key: z.string(), value: z.string(), scope: z.literal('RUN_TIME') }
const AppName = z.string().regex(/^[a-z][a-z0-9-]{0,30}[a-z0-9]$/)
const App = z.strictObject({
  name: AppName,
  services: z.tuple([
    z.strictObject({
      name: AppName,
      image: z.strictObject({
        registry_type: z.literal('DOCR'),
        repository: z.string(),
        tag: z.string(),
      }),
      http_port: z.int().min(1).max(65_535),
      instance_count: z.int().min(1),
      instance_size_slug: z.enum(['apps-s-1vcpu-1gb', 'apps-s-1vcpu-2gb', 'apps-s-2vcpu-4gb']),
      health_check: Check,
      liveness_health_check: Check,
      termination: z.strictObject({ grace_period_seconds: z.int().min(1).max(600) }),
      envs: z.array(
        z.union([
          z.strictObject(Env),
          z.strictObject({
            ...{ ...Env, type: z.literal('SECRET') },
            value: z.string().regex(/^\$\{[A-Z0-9_]+\}$/),
          }),
        ]),
      ),
    }),
  ]),
  ingress: z.strictObject({
    rules: z.tuple([
      z.strictObject({
        match: z.strictObject({ path: z.strictObject({ prefix: z.literal('/') }) }),
        component: z.strictObject({ name: AppName }),
      }),
    ]),
  }),
})

describe.each([minimal, full])('What is generated %o', (make) => {
  it.each([
    ['render', 'render.yaml', Blueprint],
    ['railway', 'railway.json', Railway],
    ['aws', 'template.yaml', Stack],
    ['kamal', 'deploy.yml', Kamal],
    ['digitalocean', 'app.yaml', App],
  ] as const)('for %s has the fields of the documentation, and no other', (target, name, shape) => {
    expect(shape.safeParse(yamlOf(make, target, name)).error?.issues).toBeUndefined()
  })

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

describe('What is generated', () => {
  it.skipIf(spawnSync('envsubst', ['--version']).status !== 0)(
    'for digitalocean fills its secrets in on the way, whatever they hold (needs envsubst)',
    async () => {
      const made = full('digitalocean')
      const { run = '' } = ('commands' in made ? made.commands.at(-1) : undefined) ?? {}
      const folder = await mkdtemp(join(tmpdir(), 'agent-server-app-'))
      onTestFinished(() => rm(folder, { recursive: true }))
      await mkdir(join(folder, 'deployment/digitalocean'), { recursive: true })
      const at = join(folder, 'deployment/digitalocean')
      await writeFile(join(at, 'app.yaml'), filesOf(made)['app.yaml'] ?? '')
      await writeFile(join(at, '.env'), 'DATABASE_URL=postgres://a:b@c/d?x=1&y=$z # "w"\n')
      const shell = spawnSync('sh', ['-c', run.replace(/doctl.*$/, 'cat')], { cwd: folder })
      const { envs } = parse(String(shell.stdout)).services[0]
      expect(envs).toContainEqual(
        expect.objectContaining({
          key: 'DATABASE_URL',
          value: 'postgres://a:b@c/d?x=1&y=$z # "w"',
        }),
      )
      expect(envs).toContainEqual(expect.objectContaining({ key: 'CHAT_MODEL', value: 'a$b' }))
    },
  )

  it.each(TARGET_NAMES)('for %s is no other value to readers of YAML 1.1', (target) => {
    const found = Object.values(filesOf(full(target))).join('\n')
    expect(found).not.toMatch(/^ *(?:UI|[Vv]alue): off$/m)
  })
})

/** As much of TOML as fly.toml has: tables, lists of tables, and values that are written as in JSON. */
function parseToml(text: string): Record<string, unknown> {
  const root: Record<string, unknown> = {}
  let table = root
  for (const line of text.split('\n').map((each) => each.trim())) {
    const [, brackets = '', path = ''] = /^(\[\[?)([\w.]+)\]\]?$/.exec(line) ?? []
    const [, name = '', value = ''] = /^(\w+) = (.+)$/.exec(line) ?? []
    if (path) table = tableAt(root, path.split('.'), brackets === '[[')
    else if (name) table[name] = JSON.parse(value)
    else if (line !== '' && !line.startsWith('#')) throw new Error(`No TOML: ${line}`)
  }
  return root
}

function tableAt(root: Record<string, unknown>, path: readonly string[], isList: boolean) {
  const [last = '', ...parents] = path.toReversed()
  let parent = root
  for (const name of parents.toReversed()) parent = Object(parent[name])
  const made: Record<string, unknown> = {}
  parent[last] = isList ? [...(Array.isArray(parent[last]) ? parent[last] : []), made] : made
  return made
}
