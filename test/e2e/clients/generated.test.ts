import { execFile, spawnSync } from 'node:child_process'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { isLong, onlyLong } from '../../support/long.ts'
import { TEST_KEY } from '../../support/server.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'
import { textReply } from '../../support/upstream-replies.ts'
import { QUESTION, startOneServer } from './one-server.ts'

// Clients that generators make of the contract: each is compiled, and makes the same four calls.

const run = promisify(execFile)
const TOOL_MS = 240_000
const OAPI_CODEGEN = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2'
const OPENAPI_GENERATOR = 'org.openapitools:openapi-generator-cli:7.25.0'
/** Otherwise the client imports a form that it does not have. */
const WITH_FORMS = ['--global-property', 'skipFormModel=false']

const has = (...tools: string[]) =>
  isLong && tools.every((tool) => spawnSync('which', [tool]).status === 0)

const server = await startOneServer()
server.upstream.always(textReply('At ten [1].'))
const directory = await temporaryDirectory()
const contract = join(directory, 'openapi.json')
const SETTINGS = { URL: server.url, KEY: TEST_KEY, QUESTION }

/** Runs a program in a folder; rejects if it ends with another code than 0. */
async function tool(folder: string, program: string, ...parameters: string[]): Promise<string> {
  const { stdout } = await run(program, parameters, {
    cwd: folder,
    timeout: TOOL_MS,
    maxBuffer: 50_000_000,
    env: { ...process.env, ...SETTINGS },
  })
  return stdout
}

/** A folder with one of the programs. */
async function folderWith(program: string, path = program): Promise<string> {
  const folder = join(directory, program.replace('.', '-'))
  await mkdir(join(folder, 'agent'), { recursive: true })
  await cp(join(import.meta.dirname, 'generated', program), join(folder, path))
  return folder
}

let jar: Promise<string> | undefined

/** Makes a client by openapi-generator. */
async function generate(language: string, target: string, ...more: string[]): Promise<void> {
  const [, name, version] = OPENAPI_GENERATOR.split(':')
  const copy = [`-Dartifact=${OPENAPI_GENERATOR}`, `-DoutputDirectory=${directory}`]
  jar ??= tool(directory, 'mvn', '-q', 'dependency:copy', ...copy)
  await jar
  const what = ['generate', '-i', contract, '-g', language, '-o', target, ...more]
  await tool(directory, 'java', '-jar', join(directory, `${name}-${version}.jar`), ...what)
}

const expectAnswers = (line: string, missing: unknown = 404) =>
  expect(JSON.parse(line)).toEqual(['Opening hours', 202, missing, 'At ten [1].'])

beforeAll(async () => {
  await writeFile(contract, await (await fetch(`${server.url}/openapi.json`)).text())
}, TOOL_MS)

describe('A client that is generated compiles, and searches, adds, misses and asks', () => {
  const options = { ...onlyLong, timeout: 2 * TOOL_MS }

  it.runIf(has('go'))('for Go by oapi-codegen (needs Go)', options, async () => {
    const folder = await folderWith('oapi_codegen.go', 'main.go')
    const code = await tool(
      folder,
      'go',
      'run',
      OAPI_CODEGEN,
      '-generate',
      'types,client',
      '-package',
      'agent',
      contract,
    )
    await writeFile(join(folder, 'agent/agent.go'), code)
    await tool(folder, 'go', 'mod', 'init', 'program')
    await tool(folder, 'go', 'mod', 'tidy')
    expectAnswers(await tool(folder, 'go', 'run', '.'), 'document_not_found')
  })

  it.runIf(has('go', 'java', 'mvn'))(
    'for Go by openapi-generator (needs Go, Java and Maven)',
    options,
    async () => {
      const folder = await folderWith('openapi_generator.go', 'main.go')
      const options = ['--additional-properties', 'withGoMod=false', '--global-property']
      await generate('go', join(folder, 'agent'), ...options, 'apiTests=false,modelTests=false')
      await tool(folder, 'go', 'mod', 'init', 'program')
      await tool(folder, 'go', 'mod', 'tidy')
      expectAnswers(await tool(folder, 'go', 'run', '.'))
    },
  )

  it.runIf(has('java', 'mvn'))(
    'for Java by openapi-generator (needs Java and Maven)',
    options,
    async () => {
      const folder = await folderWith('Program.java', 'Program.java')
      const client = join(folder, 'agent')
      await generate('java', client, ...WITH_FORMS)
      await cp(join(folder, 'Program.java'), join(client, 'src/main/java/Program.java'))
      await tool(client, 'mvn', '-q', '-DskipTests', 'compile', 'dependency:copy-dependencies')
      const classes = 'target/classes:target/dependency/*'
      expectAnswers(await tool(client, 'java', '-cp', classes, 'Program'))
    },
  )

  it.runIf(has('python3', 'java', 'mvn'))(
    'for Python by openapi-generator (needs Python, Java and Maven)',
    options,
    async () => {
      const folder = await folderWith('openapi_generator.py')
      await generate('python', join(folder, 'agent'))
      await tool(folder, 'python3', '-m', 'venv', 'environment')
      const bin = join(folder, 'environment/bin')
      await tool(folder, join(bin, 'pip'), 'install', '--quiet', './agent')
      expectAnswers(await tool(folder, join(bin, 'python'), 'openapi_generator.py'))
    },
  )
})
