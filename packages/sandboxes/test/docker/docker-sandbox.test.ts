import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import Docker from 'dockerode'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { temporaryDirectory } from '../../../../test/support/temporary-files.ts'
import {
  containerOptions,
  createDockerSandbox,
  engineOptions,
  removeContainer,
  startContainer,
} from '../../src/docker/docker-sandbox.ts'
import { SandboxLimits } from '../../src/limits.ts'

const LIMITS = SandboxLimits.parse({ memoryMegabytes: 128, cpus: 0.5, processes: 10 })
const { signal } = new AbortController()

describe('A sandbox in containers', () => {
  it('says what to do if no engine answers', async () => {
    const host = `unix://${join(await temporaryDirectory(), 'socket')}`
    const log = { warn: () => undefined }
    const sandbox = createDockerSandbox({ limits: LIMITS, image: 'x', host, owner: 'x', log })
    const refusal = {
      code: 'sandbox_unavailable',
      message: 'No container engine responds: start it, or set DOCKER_HOST',
    }
    await expect(sandbox.check(signal)).rejects.toMatchObject(refusal)
    await expect(sandbox.open(signal)).rejects.toMatchObject(refusal)
    await sandbox.close()
  })

  it('is started with its limits and without rights', () => {
    expect(containerOptions('image', 'owner', LIMITS)).toMatchObject({
      Image: 'image',
      User: '1000:1000',
      NetworkDisabled: true,
      HostConfig: {
        Memory: 128 * 2 ** 20,
        MemorySwap: 128 * 2 ** 20,
        NanoCpus: 5e8,
        PidsLimit: 10,
        NetworkMode: 'none',
        ReadonlyRootfs: true,
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges'],
      },
    })
  })
})

describe('The engine', () => {
  it('is asked once for leftovers of an earlier server, also if a container cannot be started', async () => {
    const asked: string[] = []
    // The address of a creation holds the whole program.
    const engine = createServer({ maxHeaderSize: 2 ** 20 }, ({ method, url = '' }, response) => {
      asked.push(`${method} ${url.split('?')[0]}`)
      const isList = url.includes('/containers/json')
      response.writeHead(isList ? 200 : 500).end(isList ? '[]' : '{"message": "no room"}')
    })
    onTestFinished(() => void engine.close())
    await once(engine.listen(0, '127.0.0.1'), 'listening')
    const host = `tcp://127.0.0.1:${(engine.address() as AddressInfo).port}`
    const log = { warn: () => undefined }
    const sandbox = createDockerSandbox({ limits: LIMITS, image: 'x', host, owner: 'x', log })
    await expect(sandbox.open(signal)).rejects.toMatchObject({ code: 'sandbox_unavailable' })
    await expect(sandbox.open(signal)).rejects.toMatchObject({ code: 'sandbox_unavailable' })
    expect(asked.filter((request) => request.includes('/containers/json'))).toHaveLength(1)
    expect(asked.filter((request) => request.includes('/containers/create'))).toHaveLength(2)
    await sandbox.close()
  })

  it('may break the connection to a container before it has started', async () => {
    const attached = Promise.withResolvers<Socket>()
    const answer = async (url: string, response: ServerResponse) => {
      if (url.endsWith('/start')) {
        const socket = await attached.promise
        socket.resetAndDestroy()
        // Until the caller has seen it.
        await setTimeout(50)
      }
      response.writeHead(url.includes('/create') ? 201 : 204).end('{"Id": "x"}')
    }
    const engine = createServer(({ url = '' }, response) => void answer(url, response))
    engine.on('upgrade', (_request, socket: Socket) => {
      socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n')
      attached.resolve(socket)
    })
    onTestFinished(() => void engine.close())
    await once(engine.listen(0, '127.0.0.1'), 'listening')
    const { port } = engine.address() as AddressInfo
    const docker = new Docker({ host: '127.0.0.1', port, protocol: 'http' })
    const channel = await startContainer(docker, {})
    expect(await channel.ended).toMatch(/^the connection to the container broke: /)
  })

  it('has a deadline for removing a container', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const never = () => new Promise<never>(() => undefined)
    const removal = expect(removeContainer({ remove: never, wait: never })).rejects.toMatchObject({
      name: 'TimeoutError',
    })
    await vi.advanceTimersByTimeAsync(30_000)
    await removal
  })

  it.each([
    [undefined, { socketPath: '/var/run/docker.sock' }],
    ['unix:///run/user/1000/docker.sock', { socketPath: '/run/user/1000/docker.sock' }],
    ['tcp://127.0.0.1:2375', { host: '127.0.0.1', port: 2375, protocol: 'http' }],
  ])('is found where DOCKER_HOST is %s', (host, expected) => {
    expect(engineOptions(host)).toEqual(expected)
  })

  it.each(['ssh://user@host', 'tcp://host', 'nonsense'])('is not found where it is %s', (host) => {
    expect(() => engineOptions(host)).toThrow(/^DOCKER_HOST must be/)
  })
})
