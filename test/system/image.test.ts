import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { docker, hasEngine, healthy } from './docker.ts'

const IMAGE = `agent-server-test:${randomUUID()}`
const KEY = 'a-key-for-tests-only'
const SETTINGS = ['--env', `SERVER_API_KEY=${KEY}`, '--env', 'CHAT_MODEL=extractive']
/** As docker-compose.yml runs it. */
const HARDENED = [
  ...['--read-only', '--tmpfs', '/tmp:size=64m,mode=1777', '--cap-drop', 'ALL'],
  ...['--security-opt', 'no-new-privileges:true', '--memory', '2g', '--pids-limit', '256'],
]

/** No test needs a network: requests are made from within the container. */
const ALONE = ['--network', 'none', '--health-interval', '1s']

/** Runs in the container: makes one request and prints its status and its body. */
const REQUEST = `
const [path, method, body] = process.argv.slice(1)
const headers = { authorization: 'Bearer ${KEY}', 'content-type': 'application/json' }
const response = await fetch('http://127.0.0.1:3000' + path, { method, headers, body })
console.log(JSON.stringify({ status: response.status, body: await response.json() }))`

const Reply = z.object({ status: z.number(), body: z.record(z.string(), z.unknown()) })

describe.skipIf(!hasEngine())('The container image (needs a Docker engine)', () => {
  beforeAll(async () => {
    const { code, stderr } = await docker('build', '--network', 'host', '--tag', IMAGE, '.')
    expect(code, stderr).toBe(0)
  })
  afterAll(() => docker('image', 'rm', '--force', IMAGE))

  it('holds what the server runs on, and nothing else', async () => {
    const list = `console.log(fs.readdirSync('.', { withFileTypes: true }).map(({ name }) => name).sort().join())
      console.log(['vitest', 'typescript', 'node'].filter((name) => fs.existsSync('node_modules/' + name)).join())`
    const { stdout } = await docker('run', '--rm', ...ALONE, IMAGE, 'node', '-e', list)
    expect(stdout.replace(',skills', '')).toBe(
      'LICENSE,node_modules,package-lock.json,package.json,src\n\n',
    )
  })

  it('runs as a user without rights, who can write to the data only', async () => {
    const probe = `const writable = (path) => { try { fs.accessSync(path, 2); return true } catch { return false } }
      console.log(process.getuid(), process.getgid(), ['/data', '/app', '/app/src', '/'].filter(writable).join())`
    const { stdout } = await docker('run', '--rm', ...ALONE, IMAGE, 'node', '-e', probe)
    expect(stdout).toBe('1000 1000 /data\n')
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
