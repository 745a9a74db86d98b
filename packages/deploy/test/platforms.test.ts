import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { temporaryDirectory } from '../../../test/support/temporary-files.ts'
import { TARGET_NAMES } from '../src/generate.ts'
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

    it('refuses values of a wrong type', () => {
      const spoilt = Object.entries(read(full)).map(([key, value]) => [
        key,
        typeof value === 'object' ? 'a' : { a: 1 },
      ])
      expect(mistakesOf(isRight, Object.fromEntries(spoilt))).not.toEqual([])
    })
  },
)

describe('What is generated', () => {
  it.skipIf(spawnSync('envsubst', ['--version']).status !== 0)(
    'for digitalocean fills its secrets in on the way, whatever they hold (needs envsubst)',
    async () => {
      const made = full('digitalocean')
      const commands = 'commands' in made ? made.commands : []
      const { run = '' } =
        commands.find((command) => command.run.includes('doctl apps create')) ?? {}
      const folder = await temporaryDirectory()
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
