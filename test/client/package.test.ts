import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { isLong, onlyLong } from '../support/long.ts'
import { startServer, TEST_KEY } from '../support/server.ts'
import { importsOf, ROOT, sourceFiles } from '../support/source-tree.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const run = promisify(execFile)
const CLIENT = fileURLToPath(new URL('packages/client', ROOT))
const TYPESCRIPT = join(CLIENT, 'node_modules/typescript/bin/tsc')
/** Two builds and an installation. */
const PACK_MS = 240_000

const files = sourceFiles('packages/client/src')
const manifest = JSON.parse(readFileSync(join(CLIENT, 'package.json'), 'utf8'))

describe('The client', () => {
  it('has no dependencies, and imports nothing but its own files', () => {
    expect(manifest.dependencies).toBeUndefined()
    const imports = files.flatMap(({ path, text }) =>
      importsOf(text).map((specifier) => ({ path, specifier })),
    )
    expect(imports.length).toBeGreaterThan(files.length)
    const strangers = imports.filter(
      ({ specifier }) => !specifier.startsWith('./') && !specifier.startsWith('../'),
    )
    const core = strangers.filter(
      ({ path }) => !path.startsWith('packages/client/src/command-line/'),
    )
    // The type of what is found at run time, where there is one.
    expect(core).toEqual([{ path: 'packages/client/src/upload.ts', specifier: 'node:fs' }])
    expect(strangers.filter(({ specifier }) => !specifier.startsWith('node:'))).toEqual([])
  })

  it.each(['packages/client/README.md', 'packages/client-python/README.md'])(
    'has in %s no link that a registry would break',
    (path) => {
      const text = readFileSync(new URL(path, ROOT), 'utf8')
      const links = Array.from(
        text.matchAll(/\]\(([^)]*)\)|<a\s[^>]*href="([^"]*)"/g),
        ([link]) => link,
      )
      expect(links.filter((link) => !/\(https:|"https:/.test(link))).toEqual([])
    },
  )

  it('has the version of the server whose contract it speaks', () => {
    const server = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'))
    expect(manifest.version).toBe(server.version)
  })
})

const EXAMPLE = `
import { AgentServer, type ChatEvent, type Document, NotFoundError } from 'agent-server-client'

const client = new AgentServer({ baseURL: process.argv[2], apiKey: process.argv[3] })
const { id } = await client.documents.upload('owls.md', { wait: 30, metadata: { kind: 'bird' } })
const document: Document = await client.documents.get(id)
const answer = client.chat({ messages: [{ role: 'user', content: 'When do owls hunt?' }] })
const types: ChatEvent['type'][] = []
for await (const event of answer) types.push(event.type)
const { text } = await answer.result()
const missing = await client.documents.get('none').catch((error: unknown) => error instanceof NotFoundError)
console.log(JSON.stringify({ status: document.status, last: types.at(-1), text, missing }))
`

const COMMON_JS = `
import { AgentServer } from 'agent-server-client'
export const client: AgentServer = new AgentServer({ apiKey: 'x' })
`

describe('The package', onlyLong, () => {
  let tarball = ''
  let directory = ''
  beforeAll(async () => {
    // npm itself need not be the one that runs this.
    const { stdout } = await run('npm', ['pack', '--json', '--silent'], { cwd: CLIENT })
    const [{ filename }] = JSON.parse(stdout)
    tarball = join(CLIENT, filename)
    directory = await install()
    return async () =>
      run('rm', [
        '-r',
        tarball,
        dirname(directory),
        join(CLIENT, 'dist'),
        join(CLIENT, 'commonjs/dist'),
      ])
  }, PACK_MS)

  async function install(): Promise<string> {
    const directory = join(await temporaryDirectory(), 'empty')
    await mkdir(directory)
    await writeFile(join(directory, 'package.json'), '{"type": "module", "private": true}')
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], {
      cwd: directory,
    })
    await writeFile(join(directory, 'owls.md'), 'Owls hunt at night.')
    await writeFile(
      join(directory, 'example.ts'),
      `declare const process: { argv: string[] }\n${EXAMPLE}`,
    )
    await writeFile(
      join(directory, 'example.js'),
      EXAMPLE.replaceAll(/type \w+, |: (?:Document|unknown|ChatEvent\S+)(?= =|\))/g, ''),
    )
    await writeFile(join(directory, 'common.cts'), COMMON_JS)
    return directory
  }

  it('type-checks in an empty project, without the types of Node.js', async () => {
    const options = {
      strict: true,
      noEmit: true,
      target: 'ES2022',
      module: 'NodeNext',
      types: [],
      lib: ['ES2022', 'DOM'],
      exactOptionalPropertyTypes: true,
    }
    const config = JSON.stringify({ compilerOptions: options, files: ['example.ts', 'common.cts'] })
    await writeFile(join(directory, 'tsconfig.json'), config)
    const { stdout } = await run(process.execPath, [TYPESCRIPT, '-p', directory]).catch(Object)
    expect(stdout).toBe('')
  })

  it.each([
    ['commonjs', 'node10', 'common.cts'],
    ['node16', 'node16', 'common.cts'],
    ['nodenext', 'nodenext', 'common.cts'],
    ['node16', 'node16', 'example.ts'],
    ['esnext', 'bundler', 'example.ts'],
  ])('type-checks with the module %s, by the rules of %s, in %s', async (module, rules, file) => {
    const how = ['--module', module, '--moduleResolution', rules, '--target', 'es2022']
    const rest = ['--lib', 'es2022,dom', '--strict', '--noEmit']
    const parameters = [TYPESCRIPT, ...how, ...rest, join(directory, file)]
    const { stdout } = await run(process.execPath, parameters, { cwd: directory }).catch(Object)
    expect(stdout).toBe('')
  })

  // As Node.js 20.16 is, too.
  it.each([[[]], [['--no-experimental-require-module']]])(
    'is loaded by `require`, also where that takes no ES modules, with the options %j',
    async (options: string[]) => {
      const script = 'new (require("agent-server-client").AgentServer)({ apiKey: "x" }).baseURL'
      const { stdout } = await run(process.execPath, [...options, '--print', script], {
        cwd: directory,
        env: {},
      })
      expect(stdout.trim()).toBe('http://127.0.0.1:3000')
    },
  )

  it.runIf(isLong && stockNode())(
    'runs on the Node.js of the machine (needs one from 20.16 on)',
    async () => {
      const server = await startServer()
      onTestFinished(() => server.close())
      const { stdout } = await run(stockNode() ?? '', ['example.js', server.url, TEST_KEY], {
        cwd: directory,
      })
      expect(JSON.parse(stdout)).toMatchObject({
        status: 'ready',
        last: 'done',
        missing: true,
        text: expect.stringContaining('Owls hunt at night. [1]'),
      })
    },
  )
})

/** A Node.js that is not the project's own. */
function stockNode(): string | undefined {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .map((folder) => join(folder, 'node'))
    .find((path) => existsSync(path))
}
