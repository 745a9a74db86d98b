import { randomUUID } from 'node:crypto'
import { appendFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { docker, hasEngine, healthy } from './docker.ts'

const IMAGE = `agent-server-test:${randomUUID()}`
const MAX_BYTES = 450_000_000
const KEY = 'a-key-for-tests-only'
const SETTINGS = ['--env', `SERVER_API_KEY=${KEY}`, '--env', 'CHAT_MODEL=extractive']
/** As docker-compose.yml runs it. */
const HARDENED = [
  '--user',
  '1000:1000',
  '--read-only',
  '--tmpfs',
  '/tmp:size=64m,mode=1777',
  '--cap-drop',
  'ALL',
  '--security-opt',
  'no-new-privileges:true',
  '--memory',
  '2g',
  '--pids-limit',
  '256',
]

/** No test needs a network: requests are made from within the container. */
const ALONE = ['--network', 'none', '--health-interval', '1s']

/** Runs in the container: makes one request and prints its status and its body. */
const REQUEST = `
const [path, method, body] = process.argv.slice(1)
const headers = { authorization: 'Bearer ${KEY}', 'content-type': 'application/json' }
const response = await fetch('http://127.0.0.1:' + process.env.PORT + path, { method, headers, body })
console.log(JSON.stringify({ status: response.status, body: await response.json() }))`

/** The page of the web UI, and its script. */
const PAGE = `
const url = 'http://127.0.0.1:' + process.env.PORT
const page = await fetch(url, { headers: { accept: 'text/html' } })
const [, path] = /src="([^"]+\\.js)"/.exec(await page.text())
const script = await fetch(url + path)
console.log(page.status, script.status, (await script.text()).length > 50_000)`

/** Files whose readers come in packages of which the image keeps a part. */
const FILES = fileURLToPath(new URL('../fixtures/files/', import.meta.url))
const NAMES = ['heron-scans.pdf', 'heron.tif', 'owls.pdf', 'herons.docx', 'ringing.xlsx']
const UPLOAD = `
const headers = { authorization: 'Bearer ${KEY}' }
const documents = []
for (const name of ${JSON.stringify(NAMES)}) {
  const body = new FormData()
  body.set('file', new File([fs.readFileSync('/files/' + name)], name))
  const url = 'http://127.0.0.1:' + process.env.PORT + '/documents?wait=60&for=embeddings'
  const response = await fetch(url, { method: 'POST', headers, body })
  documents.push(await response.json())
}
console.log(JSON.stringify(documents))`

const Reply = z.object({ status: z.number(), body: z.record(z.string(), z.unknown()) })

describe.skipIf(!hasEngine())('The container image (needs a Docker engine)', () => {
  beforeAll(async () => {
    const { code, stderr } = await docker('build', '--network', 'host', '--tag', IMAGE, '.')
    expect(code, stderr).toBe(0)
  })
  afterAll(() => docker('image', 'rm', '--force', IMAGE))

  it('holds what the server runs on, and nothing else', async () => {
    const list = `console.log(fs.readdirSync('.').sort().join(), fs.readdirSync('ui').join())
      const names = ['vitest', 'typescript', 'node', 'esbuild/lib', 'lucide/dist', 'lucide/LICENSE', '@fontsource-variable/inter/LICENSE']
      console.log(names.filter((name) => fs.existsSync('node_modules/' + name)).join())`
    const { stdout } = await docker('run', '--rm', ...ALONE, IMAGE, 'node', '-e', list)
    // The agent's own files come in where the project has any.
    expect(stdout.replace(/,agent\.json|,forms|,plugins/g, '')).toBe(
      '.env.example,LICENSE,node_modules,package-lock.json,package.json,packages,skills,src,ui dist\nlucide/LICENSE,@fontsource-variable/inter/LICENSE\n',
    )
  })

  it('is small', async () => {
    const inspected = await docker(
      'image',
      'inspect',
      '--format',
      '{{.Size}} {{.Architecture}}',
      IMAGE,
    )
    const [size = '', architecture] = inspected.stdout.trim().split(' ')
    expect(Number(size)).toBeGreaterThan(0)
    expect(Number(size)).toBeLessThanOrEqual(MAX_BYTES)
    const file = process.env.RELEASE_LIST
    const line = `image for ${architecture}  ${(Number(size) / 1e6).toFixed(2)} MB\n`
    if (file) await appendFile(file, line)
  })

  it('lacks the large fonts, and names their packages when they are needed', async () => {
    const hint = `const { fontHint } = await import('/app/packages/lib/src/text/fonts.ts')
      console.log(fontHint(['北', '서', 'a']))`
    const node = ['node', '--input-type=module', '-e', hint] as const
    const { stdout } = await docker('run', '--rm', ...ALONE, IMAGE, ...node)
    expect(stdout).toBe('; the server needs: npm install @embedpdf/fonts-sc @embedpdf/fonts-kr\n')
  })

  it('runs as a user without rights, who can write to the data only', async () => {
    const probe = `const writable = (path) => { try { fs.accessSync(path, 2); return true } catch { return false } }
      console.log(process.getuid(), process.getgid(), ['/data', '/app', '/app/src', '/'].filter(writable).join())`
    const { stdout } = await docker(
      'run',
      '--rm',
      ...ALONE,
      ...HARDENED,
      IMAGE,
      'node',
      '-e',
      probe,
    )
    expect(stdout).toBe('1000 1000 /data\n')
  })

  it('gives a volume of root to its user, gives root up, and keeps the data', async () => {
    const volume = await volumeOf(0)
    const options = [
      '--user',
      '0:0',
      '--cap-add',
      'CHOWN',
      '--cap-add',
      'SETUID',
      '--cap-add',
      'SETGID',
      ...SETTINGS,
      '--volume',
      `${volume}:/data`,
    ]
    const first = await start(options)
    await healthy(first)
    const who = `console.log(['/proc/1', '/data', '/data/left'].map((path) => fs.statSync(path).uid).join(), fs.readFileSync('/proc/1/status', 'utf8').match(/CapEff:\\s*(\\w+)/)[1])`
    const { stdout } = await docker('exec', first, 'node', '-e', who)
    expect(stdout).toBe('1000,1000,1000 0000000000000000\n')
    const { body } = await request(first, '/documents', 'POST', { text: 'Otters hold hands.' })
    await docker('stop', first)
    expect(await exitCode(first)).toBe(0)
    const second = await start(options)
    await healthy(second)
    expect(await request(second, `/documents/${body.id}`)).toMatchObject({ status: 200 })
  })

  it('works as any other user, at the port that the platform says', async () => {
    const volume = await volumeOf(54_321)
    const own = ['--user', '54321:54321', '--env', 'PORT=8080', '--volume', `${volume}:/data`]
    const name = await start([...SETTINGS, ...own])
    await healthy(name)
    expect(await request(name, '/readiness')).toMatchObject({ status: 200 })
  })

  it('reads scans and files, and searches by meaning, with what it keeps of its packages', async () => {
    const name = await start([...SETTINGS, '--volume', `${FILES}:/files:ro`])
    await healthy(name)
    const { stdout, stderr } = await docker('exec', name, 'node', '-e', UPLOAD)
    const documents = z.array(z.object({ status: z.string() })).parse(JSON.parse(stdout || stderr))
    expect(documents.map(({ status }) => status)).toEqual(NAMES.map(() => 'ready'))
    const query = { query: 'a wading bird with long legs', mode: 'dense', topK: 20 }
    const { status, body } = await request(name, '/query', 'POST', query)
    expect(status).toBe(200)
    const titles = z.array(z.object({ title: z.string() })).parse(body.hits)
    expect(new Set(titles.map(({ title }) => title)).size).toBe(NAMES.length)
  })

  it('refuses to run as root if it cannot drop privileges, and says what to do', async () => {
    const flags = [...ALONE, ...HARDENED, '--user', '0:0', ...SETTINGS]
    const { code, stderr } = await docker('run', '--rm', ...flags, IMAGE)
    expect(code).toBe(1)
    expect(stderr).toContain('--user 1000:1000')
  })

  it('refuses to start without its settings, and names them all', async () => {
    const { code, stderr } = await docker('run', '--rm', ...ALONE, IMAGE)
    expect(code).toBe(1)
    expect(stderr).toContain('SERVER_API_KEY')
    expect(stderr).toContain('CHAT_API_KEY')
    expect(stderr).not.toContain('    at ')
  })

  it('turns healthy, and ends with code 0 within its grace when it is stopped', async () => {
    const name = await start(SETTINGS)
    await healthy(name)
    expect(await request(name, '/readiness')).toMatchObject({ status: 200 })
    const page = await docker('exec', name, 'node', '--input-type=module', '-e', PAGE)
    expect([page.stdout, page.stderr]).toEqual(['200 200 true\n', ''])
    const doctor = await docker('exec', name, 'node', 'src/main.ts', 'doctor')
    expect([doctor.code, doctor.stderr]).toEqual([0, expect.stringContaining('ok ')])
    const backup = await docker('exec', name, 'node', 'src/main.ts', 'backup', '/data/all.zst')
    expect([backup.code, backup.stderr]).toEqual([0, expect.any(String)])
    await docker('stop', '--time', '20', name)
    expect(await exitCode(name)).toBe(0)
  })

  it('can be stopped while it still starts, with an init process as in docker-compose.yml', async () => {
    const name = await start([...SETTINGS, '--init'])
    await docker('stop', '--time', '20', name)
    // 143: ended by the signal itself; 137 would be the engine giving up.
    expect([0, 143]).toContain(await exitCode(name))
  })

  it('keeps its data in the volume when its container is replaced', async () => {
    const volume = `agent-server-test-${randomUUID()}`
    onTestFinished(async () => {
      await docker('volume', 'rm', '--force', volume)
    })
    const first = await start([...SETTINGS, '--volume', `${volume}:/data`])
    await healthy(first)
    const text = 'The library opens at nine on weekdays.'
    const created = await request(first, '/documents', 'POST', { text })
    expect(created.status).toBe(202)
    await docker('stop', first)
    await docker('rm', first)

    const second = await start([...SETTINGS, '--init', '--volume', `${volume}:/data`])
    await healthy(second)
    expect(await request(second, `/documents/${created.body.id}`)).toMatchObject({ status: 200 })
  })
})

/** A volume that a user has, with a file in it; it is removed when the test is over. */
async function volumeOf(user: number): Promise<string> {
  const volume = `agent-server-test-${randomUUID()}`
  onTestFinished(async () => {
    await docker('volume', 'rm', '--force', volume)
  })
  const own = `fs.writeFileSync('/data/left', ''); fs.chownSync('/data/left', ${user}, ${user}); fs.chownSync('/data', ${user}, ${user})`
  // The image's entry point would give root up.
  const flags = [...ALONE, '--user', '0:0', '--entrypoint', 'node', '--volume', `${volume}:/data`]
  const { code, stderr } = await docker('run', '--rm', ...flags, IMAGE, '-e', own)
  expect(code, stderr).toBe(0)
  return volume
}

/** Starts a container, with the options before the image; it is removed when the test is over. */
async function start(options: readonly string[]): Promise<string> {
  const name = `agent-server-test-${randomUUID()}`
  onTestFinished(async () => {
    await docker('rm', '--force', '--volumes', name)
  })
  const flags = ['--detach', '--name', name, ...ALONE, ...HARDENED, ...options]
  const { code, stderr } = await docker('run', ...flags, IMAGE)
  expect(code, stderr).toBe(0)
  return name
}

async function request(name: string, path: string, method = 'GET', body?: unknown) {
  const words = [path, method, ...(body === undefined ? [] : [JSON.stringify(body)])]
  const program = ['node', '--input-type=module', '--eval', REQUEST, '--']
  const { stdout, stderr } = await docker('exec', name, ...program, ...words)
  return Reply.parse(JSON.parse(stdout || JSON.stringify(stderr)))
}

async function exitCode(name: string): Promise<number> {
  const { stdout } = await docker('inspect', '--format', '{{.State.ExitCode}}', name)
  return Number(stdout)
}
