import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { onlyLong } from '../../support/long.ts'
import { TEST_KEY } from '../../support/server.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'
import { QUESTION, startOneServer } from './one-server.ts'

const run = promisify(execFile)
const HERE = import.meta.dirname
const TOOL_MS = 240_000
const Document = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

const server = await startOneServer()
const directory = await temporaryDirectory()
const contract = join(directory, 'openapi.json')
const text = await (await fetch(`${server.url}/openapi.json`)).text()
await writeFile(contract, text)

/** Runs a program of the package; rejects if it ends with another code than 0. */
async function runTool(path: string, ...parameters: string[]): Promise<string> {
  const tool = join(HERE, 'node_modules', path)
  const { stdout, stderr } = await run(process.execPath, [tool, ...parameters], {
    cwd: directory,
    timeout: TOOL_MS,
    maxBuffer: 50_000_000,
  })
  return stdout + stderr
}

it(
  'orval makes a client of every operation, which compiles and works',
  async () => {
    const made = join(directory, 'agent.ts')
    await runTool(
      'orval/dist/bin/orval.mjs',
      '--input',
      contract,
      '--output',
      made,
      '--client',
      'fetch',
    )
    const client = await readFile(made, 'utf8')
    const operations = Object.values(Document.parse(JSON.parse(text)).paths).flatMap(Object.values)
    expect(operations.length).toBeGreaterThan(80)
    const ids = operations.map(
      (operation) => z.object({ operationId: z.string() }).parse(operation).operationId,
    )
    expect(ids.filter((id) => !client.includes(`export const ${id} = async `))).toEqual([])

    const compiler = resolve('node_modules/typescript/bin/tsc')
    const options = [
      '--strict',
      '--noEmit',
      '--target',
      'es2024',
      '--module',
      'nodenext',
      '--lib',
      'es2024,dom,dom.iterable',
    ]
    await run(process.execPath, [compiler, ...options, made], { cwd: directory, timeout: TOOL_MS })

    const program = join(directory, 'program.ts')
    await writeFile(
      program,
      `import * as agent from './agent.ts'
     const fetched = globalThis.fetch
     globalThis.fetch = (path, options) => fetched('${server.url}' + path, options)
     const headers = { authorization: 'Bearer ${TEST_KEY}' }
     const found = await agent.query({ query: '${QUESTION}' }, { headers })
     const created = await agent.createDocument({ title: 'Geese', text: 'Geese fly south.' }, undefined, { headers: { ...headers, 'content-type': 'application/json' } })
     const missing = await agent.getDocument('nothing', { headers })
     console.log(JSON.stringify([found.data.hits[0].title, created.status, missing.status]))`,
    )
    const { stdout } = await run(process.execPath, [program], { cwd: directory, timeout: TOOL_MS })
    expect(JSON.parse(stdout)).toEqual(['Opening hours', 202, 404])
  },
  TOOL_MS,
)

it('Redocly has no complaint about the contract', { ...onlyLong, timeout: TOOL_MS }, async () => {
  const said = await runTool(
    '@redocly/cli/bin/cli.js',
    'lint',
    '--config',
    join(HERE, 'redocly.yaml'),
    '--format',
    'json',
    contract,
  )
  expect(JSON.parse(said.slice(said.indexOf('{'), said.lastIndexOf('}') + 1))).toMatchObject({
    totals: { errors: 0, warnings: 0 },
  })
})

it('Spectral has no complaint about the contract beyond its configured exceptions', {
  ...onlyLong,
  timeout: TOOL_MS,
}, async () => {
  const ruleset = join(HERE, '.spectral.yaml')
  const said = await runTool(
    '@stoplight/spectral-cli/dist/index.js',
    'lint',
    '--ruleset',
    ruleset,
    '--fail-severity',
    'hint',
    '--format',
    'json',
    contract,
  )
  expect(said).toMatch(/^\[\]/)
})
