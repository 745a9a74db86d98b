import { execFile, execFileSync } from 'node:child_process'
import {
  appendFile,
  cp,
  glob,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort, type Launched, launch } from '../support/server-process.ts'
import { ROOT } from '../support/source-tree.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const run = promisify(execFile)
const REPOSITORY = fileURLToPath(ROOT)
const LISTENING = /listening at (http:\/\/\S+?),/
const FIRST_ANSWER_MS = 60_000
const INSTALL_MS = 400_000
const REACH_MS = 30_000
const MAX_PACKAGE = 5_000_000
const MAX_INSTALLED = 320_000_000
const WEIGHTS = 'agent-server-minilm'
/** Nothing is compiled: whatever tries to fails. */
const WITHOUT_COMPILER = { CC: '/bin/false', CXX: '/bin/false', npm_config_python: '/bin/false' }
/** As the machines that the image is for. */
const ARCHITECTURES = { x64: 0x3e, arm64: 0xb7 }

const ASK = `
import { AgentServer } from 'agent-server-client'
const [baseURL, apiKey] = process.argv.slice(2)
const server = new AgentServer({ baseURL, apiKey })
const { hits } = await server.query({ query: 'owls at night' })
console.log(hits[0].text)`
const ASK_IN_PYTHON = `
import sys
from agent_server_client import AgentServer
with AgentServer(sys.argv[1], sys.argv[2]) as server:
    print(server.query("owls at night")["hits"][0]["text"])`

function works(program: string, ...parameters: string[]): boolean {
  try {
    execFileSync(program, parameters, { stdio: 'ignore', timeout: REACH_MS })
    return true
  } catch {
    return false
  }
}

/** Whether npm reaches the packages that the server depends on. */
const reachesRegistry = works('npm', 'view', 'zod', 'version')

/** With a folder for packages of its own; undefined if it cannot be made or does not reach what the client depends on. */
async function makePython(): Promise<string | undefined> {
  const folder = await temporaryDirectory()
  const pip = join(folder, 'bin/pip')
  const download = ['download', '--quiet', '--no-deps', '--dest', folder, 'httpx']
  return works('python3', '-m', 'venv', folder) && works(pip, ...download) ? folder : undefined
}

const python = reachesRegistry ? await makePython() : undefined

async function bytesIn(folder: string): Promise<number> {
  const { stdout } = await run('du', ['-sk', '--apparent-size', folder])
  return Number.parseInt(stdout, 10) * 1024
}

/** Adds to what `.ci/run` ends with. */
async function list(line: string): Promise<void> {
  const file = process.env.RELEASE_LIST
  if (file) await appendFile(file, `${line}\n`)
}

const inMegabytes = (bytes: number) => `${(bytes / 1e6).toFixed(2)} MB`

describe.skipIf(!reachesRegistry)('The packages (need a registry of npm packages)', () => {
  let root: string | undefined
  let packed: string
  let files: string[]
  let directory: string
  let server: Launched | undefined
  /** From the start of the process until it listens. */
  let startMs: number
  let url: string
  let key: string

  /** What is released is packed, installed into an empty folder, and started by its command. */
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'agent-server-'))
    packed = join(root, 'packages')
    await run(process.execPath, ['scripts/pack.ts', '--to', packed, '--wheel'], { cwd: REPOSITORY })
    files = await readdir(packed)
    directory = join(root, 'installed')
    await mkdir(directory)
    const tarballs = files.filter((name) => name.endsWith('.tgz'))
    expect(tarballs).toHaveLength(3)
    // With installation scripts, as for everybody.
    await run('npm', ['install', ...tarballs.map((name) => join(packed, name))], {
      cwd: directory,
      timeout: INSTALL_MS,
      env: { ...process.env, ...WITHOUT_COMPILER },
    })
    const started = performance.now()
    server = launch({
      directory,
      command: ['npx', 'agent-server'],
      environment: {
        PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
        PORT: await freePort(),
      },
    })
    url = LISTENING.exec(await server.said(LISTENING))?.[1] ?? ''
    startMs = performance.now() - started
    const environment = await readFile(join(directory, '.env'), 'utf8')
    key = /^SERVER_API_KEY=(.+)$/m.exec(environment)?.[1] ?? ''
  }, INSTALL_MS + FIRST_ANSWER_MS)

  afterAll(async () => {
    server?.send('SIGTERM')
    await server?.exited
    if (root) await rm(root, { recursive: true })
  })

  const post = (path: string, body: unknown) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  it('are small, have checksums and a list of what they contain', async () => {
    await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: packed })
    const sums = await readFile(join(packed, 'SHA256SUMS'), 'utf8')
    for (const name of files.filter((each) => each !== 'SHA256SUMS')) {
      expect(sums).toContain(`  ${name}\n`)
      const { size } = await stat(join(packed, name))
      if (!name.startsWith(WEIGHTS)) expect([name, size]).toSatisfy(() => size <= MAX_PACKAGE)
      await list(`${name}  ${inMegabytes(size)}  sha256 ${sums.split(`  ${name}`)[0]?.slice(-64)}`)
    }
    const bill = JSON.parse(await readFile(join(packed, 'agent-server.cdx.json'), 'utf8'))
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX' })
    const named = bill.components.map(({ name }: { name: string }) => name)
    expect(named).toEqual(expect.arrayContaining(['fastify', 'onnxruntime-node', 'zod']))
    expect(named).not.toContain('vitest')
  })

  it('cite within a minute of their start, in a folder that was empty', async () => {
    const listening = performance.now()
    const document = await post('/documents?wait=30', { text: 'Owls hunt at night.' })
    expect(await document.json()).toMatchObject({ status: 'ready' })
    const question = { messages: [{ role: 'user', content: 'When do owls hunt?' }] }
    expect(await (await post('/chat', question)).text()).toMatch(/"citations":\[\{.*"number":1/)
    expect(startMs + performance.now() - listening).toBeLessThan(FIRST_ANSWER_MS)

    expect(await readdir(join(directory, 'data'))).toContain('agent-server.db')
    const page = await fetch(url, { headers: { accept: 'text/html' } })
    expect(await page.text()).toContain('<title>')
    // Files are read by processes that may see nothing but the packages.
    const file = new FormData()
    file.append('file', new Blob(['<h1>Herons</h1><p>Herons fish by day.']), 'herons.html')
    const upload = await fetch(`${url}/documents?wait=30`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: file,
    })
    expect(await upload.json()).toMatchObject({ status: 'ready' })
  })

  it('are asked by the client for JavaScript', async () => {
    await post('/documents?wait=30', { text: 'Owls hunt at night.' })
    await writeFile(join(directory, 'ask.mjs'), ASK)
    const asked = await run(process.execPath, ['ask.mjs', url, key], { cwd: directory })
    expect(asked.stdout).toBe('Owls hunt at night.\n')
  })

  describe.skipIf(!python)('by the client for Python (needs venv and PyPI)', () => {
    it('are asked', async () => {
      const bin = join(python ?? '', 'bin')
      await post('/documents?wait=30', { text: 'Owls hunt at night.' })
      const wheel = files.find((name) => name.endsWith('.whl')) ?? 'no wheel'
      const install = ['install', '--quiet', '--disable-pip-version-check', join(packed, wheel)]
      await run(join(bin, 'pip'), install, { timeout: INSTALL_MS })
      const ask = ['-c', ASK_IN_PYTHON, url, key]
      expect((await run(join(bin, 'python'), ask)).stdout).toBe('Owls hunt at night.\n')
    })
  })

  it.each(['x64', 'arm64'] as const)(
    'have what they depend on ready for %s, and all of it is small',
    async (architecture) => {
      const folder = await temporaryDirectory()
      for await (const path of glob(
        '{package*.json,scripts/prune-packages.mjs,packages/**/package.json}',
        {
          cwd: REPOSITORY,
          exclude: (name) => name.endsWith('node_modules'),
        },
      )) {
        await mkdir(dirname(join(folder, path)), { recursive: true })
        await cp(join(REPOSITORY, path), join(folder, path))
      }
      const target = ['--os=linux', `--cpu=${architecture}`, '--libc=glibc']
      const flags = ['--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund']
      await run('npm', ['ci', ...flags, ...target], { cwd: folder, timeout: INSTALL_MS })
      const prune = `Object.defineProperty(process, 'arch', { value: '${architecture}' })
        import('./scripts/prune-packages.mjs').then(({ prunePackages }) => prunePackages('node_modules'))`
      await run(process.execPath, ['--eval', prune], { cwd: folder })

      const size = await bytesIn(join(folder, 'node_modules'))
      expect(size).toBeLessThanOrEqual(MAX_INSTALLED)
      await list(`npm ci --omit=dev on linux/${architecture}  ${inMegabytes(size)}`)
      const machines = new Map<string, number>()
      for await (const path of glob('node_modules/**/*.node', { cwd: folder }))
        machines.set(path, await machineOf(join(folder, path)))
      const wrong = [...machines].filter(([, machine]) => machine !== ARCHITECTURES[architecture])
      expect(wrong).toEqual([])
      expect(machines.size).toBeGreaterThan(2)
    },
    INSTALL_MS,
  )
})

/** The processor that a program in ELF is for. */
async function machineOf(file: string): Promise<number> {
  const handle = await open(file)
  const { buffer } = await handle.read(Buffer.alloc(20), 0, 20, 0)
  await handle.close()
  return buffer.toString('latin1', 0, 4) === '\x7fELF' ? buffer.readUInt16LE(18) : 0
}
