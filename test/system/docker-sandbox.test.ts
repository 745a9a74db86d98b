import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SandboxLimits } from '@agent-server/sandboxes'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createDockerSandbox } from '../../packages/sandboxes/src/docker/docker-sandbox.ts'
import { describeSandbox } from '../../packages/sandboxes/test/contracts/sandbox.contract.ts'
import { describeSandboxAttacks } from '../../packages/sandboxes/test/contracts/sandbox-attacks.contract.ts'
import { ROOT } from '../support/source-tree.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'
import { docker, hasEngine, runCommand } from './docker.ts'

const IMAGE = `agent-server-sandbox-test:${randomUUID()}`
const LIMITS = SandboxLimits.parse({})
const { signal } = new AbortController()
const log = { warn: () => undefined }
const script = (name: string) => fileURLToPath(new URL(`.ci/${name}`, ROOT))

const create = (limits: SandboxLimits = LIMITS, owner: string = randomUUID()) =>
  createDockerSandbox({ limits, image: IMAGE, host: process.env.DOCKER_HOST, owner, log })

const containersOf = async (owner: string) =>
  (await docker('ps', '--all', '--quiet', '--filter', `label=agent-server.sandbox=${owner}`)).stdout

describe.skipIf(!hasEngine())('Sandboxes in containers (needs a Docker engine)', () => {
  beforeAll(async () => {
    const { code, stderr } = await runCommand(script('make-python-image.sh'), [IMAGE])
    expect(code, stderr).toBe(0)
  })
  afterAll(() => docker('image', 'rm', '--force', IMAGE))

  describeSandbox('docker', { create })
  describeSandboxAttacks('docker', { create })

  it('leave no container behind, whichever way they end', async () => {
    const owner = randomUUID()
    const sandbox = create({ ...LIMITS, seconds: 1 }, owner)
    const [killed, timedOut, ended] = await Promise.all(
      [1, 2, 3, 4].map(() => sandbox.open(signal)),
    )
    await killed?.kill()
    await timedOut?.run({ code: 'while True: pass' }, signal)
    await ended?.run({ code: 'import os\nos._exit(0)' }, signal)
    await ended?.kill()
    await sandbox.close()
    expect(await containersOf(owner)).toBe('')
  })

  it('remove what their server has left before it was killed, and nothing of another server', async () => {
    const [owner, neighbour] = [randomUUID(), randomUUID()]
    const [before, other] = [create(LIMITS, owner), create(LIMITS, neighbour)]
    const [left, spared] = [await before.open(signal), await other.open(signal)]
    const after = create(LIMITS, owner)
    const session = await after.open(signal)
    expect(await left.run({ code: '1' }, signal)).toMatchObject({ outcome: 'crashed' })
    expect(await spared.run({ code: '1' }, signal)).toMatchObject({ outcome: 'finished' })
    expect((await containersOf(owner)).trim().split('\n')).toHaveLength(1)
    expect(session.alive).toBe(true)
    await Promise.all([before, after, other].map(({ close }) => close()))
  })

  it('name the image that is missing, and how to make it', async () => {
    const image = 'agent-server-sandbox:missing'
    const host = process.env.DOCKER_HOST
    const sandbox = createDockerSandbox({ limits: LIMITS, image, host, owner: 'nobody', log })
    const refusal = {
      code: 'sandbox_unavailable',
      message: `The engine has no image ${image}: docker build --tag ${image} packages/sandbox-image`,
    }
    await expect(sandbox.check(signal)).rejects.toMatchObject(refusal)
    await expect(sandbox.open(signal)).rejects.toMatchObject(refusal)
  })
})

const canStartEngine = hasEngine() && process.getuid?.() === 0

describe.skipIf(!canStartEngine)('An engine that is restarted (needs root and dockerd)', () => {
  it('ends its sandboxes, and has new ones afterwards', async () => {
    const directory = join(await temporaryDirectory(), 'engine')
    const host = await startEngine(directory)
    onTestFinished(() => stopEngine(directory))
    const made = await runCommand('env', [
      `DOCKER_HOST=${host}`,
      script('make-python-image.sh'),
      IMAGE,
    ])
    expect(made.code, made.stderr).toBe(0)
    const sandbox = createDockerSandbox({ limits: LIMITS, image: IMAGE, host, owner: 'x', log })
    const session = await sandbox.open(signal)

    await stopEngine(directory)
    expect(await session.run({ code: '1' }, signal)).toMatchObject({ outcome: 'crashed' })
    await expect(sandbox.open(signal)).rejects.toMatchObject({
      code: 'sandbox_unavailable',
      message: 'No container engine responds: start it, or set DOCKER_HOST',
    })

    await startEngine(directory)
    const next = await sandbox.open(signal)
    expect(await next.run({ code: '6 * 7' }, signal)).toMatchObject({ stdout: '42\n' })
    await sandbox.close()
  })
})

async function startEngine(directory: string): Promise<string> {
  const { code, stdout, stderr } = await runCommand(script('start-docker-engine.sh'), [directory])
  expect(code, stderr).toBe(0)
  return stdout.trim()
}

/** Ends it, waits until it has ended, and takes away what it leaves mounted. */
async function stopEngine(directory: string): Promise<void> {
  const pid = await readFile(join(directory, 'pid'), 'utf8').catch(() => undefined)
  if (pid === undefined) return
  process.kill(Number(pid))
  await runCommand('tail', [`--pid=${pid}`, '-f', '/dev/null'])
  const mounts = await readFile('/proc/mounts', 'utf8')
  const left = mounts.split('\n').map((line) => line.split(' ')[1] ?? '')
  const own = left.filter((path) => path.startsWith(`${directory}/`))
  if (own.length > 0) await runCommand('umount', own)
}
