import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { FORMER_FIELDS } from '../src/agent/configuration.ts'
import { FORMER_VARIABLES } from '../src/variables.ts'
import { breakingChanges, Contract, setupContract } from './compare-contracts.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFile(join(ROOT, path), 'utf8')

/** How the shapes of events are called. */
const EVENT = /(?:Frame|Event\w*)$/

/** What a version promises not to take away: docs/reference/stability.md. */
export const Surface = z.object({
  version: z.string(),
  contract: Contract,
  setup: Contract,
  /** Names of events, of the clients' exports, methods and options, and of commands with theirs. */
  names: z.array(z.string()),
})
export type Surface = z.output<typeof Surface>

/** Settings and fields of agent.json that have another name now, and work under their former one. */
const FORMER_NAMES = [...Object.keys(FORMER_VARIABLES), ...Object.keys(FORMER_FIELDS)]

/** The file of the last version that was kept. */
export const KEPT = 'test/fixtures/surface.json'

/** Of this checkout, of which a server has answered with `openapi`. */
export async function readSurface(openapi: unknown): Promise<Surface> {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(await read('package.json')))
  const contract = Contract.parse(withoutWords(openapi))
  const events = Object.keys(contract.components.schemas).filter((name) => EVENT.test(name))
  return {
    version,
    contract,
    setup: Contract.parse(
      withoutWords(setupContract(await read('agent.schema.json'), await read('.env.example'))),
    ),
    names: [
      ...events.map((name) => `event ${name}`),
      ...(await clientNames()),
      ...(await pythonNames()),
      ...(await commandLineNames()),
      ...(await commandNames()),
    ].toSorted(),
  }
}

/** What `now` no longer has of what was kept, or has otherwise, one line each. */
export function lostSince(
  kept: Surface,
  now: Surface,
  former: readonly string[] = FORMER_NAMES,
): string[] {
  const stillWorks = (line: string) => {
    const [, gone] = /(\w+): is gone$/.exec(line) ?? []
    return former.some((path) => path.split('.').at(-1) === gone)
  }
  return [
    ...breakingChanges(kept.contract, now.contract),
    ...breakingChanges(kept.setup, now.setup).filter((line) => !stillWorks(line)),
    ...kept.names.filter((name) => !now.names.includes(name)).map((name) => `${name}: is gone`),
  ]
}

/** As text in which each path, each schema and each name has a line of its own. */
export function toText(surface: Surface): string {
  const { names, contract, setup, version } = surface
  const lines = (of: object, open: string, close: string) =>
    `${open}\n${Object.entries(of)
      .map(
        ([key, value]) =>
          `${Array.isArray(of) ? '' : `${JSON.stringify(key)}:`}${JSON.stringify(value)}`,
      )
      .join(',\n')}\n${close}`
  const text = ({ paths, components }: Contract) =>
    `{"paths":${lines(paths, '{', '}')},"components":{"schemas":${lines(components.schemas, '{', '}')}}}`
  return `{"version":${JSON.stringify(version)},\n"contract":${text(contract)},\n"setup":${text(setup)},\n"names":${lines(names, '[', ']')}}\n`
}

/** Keywords of a contract that no client depends on. */
const WORDS = new Set(
  'description summary example examples default title tags security operationId pattern format minimum maximum minLength maxLength minItems maxItems exclusiveMinimum exclusiveMaximum additionalProperties info servers headers propertyNames security securitySchemes openapi'.split(
    ' ',
  ),
)
/** Where keys are names that somebody chose. */
const NAMED = new Set(['properties', 'schemas', 'paths'])

function withoutWords(value: unknown, isNamed = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutWords(item))
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([key]) => isNamed || !WORDS.has(key))
  return Object.fromEntries(
    kept.map(([key, inner]) => [key, withoutWords(inner, !isNamed && NAMED.has(key))]),
  )
}

const Methods = z.record(z.string(), z.array(z.string()))

async function run(...parameters: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { cwd: ROOT })
  return stdout
}

async function clientNames(): Promise<string[]> {
  const entry = await import('../packages/client/src/agent-server.ts')
  const list = await run('packages/client-python/tests/javascript-methods.js')
  return [
    ...Object.keys(entry).map((name) => `client ${name}`),
    ...Object.entries(Methods.parse(JSON.parse(list))).flatMap(([method, options]) => [
      `client ${method}`,
      ...options.map((option) => `client ${method} ${option}`),
    ]),
  ]
}

async function pythonNames(): Promise<string[]> {
  const text = await read('packages/client-python/src/agent_server_client/__init__.py')
  const all = text.slice(text.indexOf('__all__'))
  return Array.from(all.matchAll(/"(\w+)"/g), ([, name]) => `python ${name}`)
}

async function commandLineNames(): Promise<string[]> {
  const script = await run('packages/client/src/command-line/main.ts', 'completion', 'bash')
  return Array.from(script.matchAll(/^ {4}(\w+)\) words='(.*)'/gm), ([, command, words = '']) =>
    words.split(' ').map((word) => `agent-server-client ${command} ${word}`),
  ).flat()
}

async function commandNames(): Promise<string[]> {
  const [, table = ''] = /const COMMANDS = (.*?)\n\]\)/s.exec(await read('src/main.ts')) ?? []
  return Array.from(table.matchAll(/\['([\w-]+)',/g), ([, name]) => `agent-server ${name}`)
}
