import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { StreamInterruptedError } from '../../packages/client/src/agent-server.ts'
import { itServesTheWholeClient } from '../contracts/whole-client.contract.ts'
import { createCertificateAuthority, trust } from '../support/certificates.ts'
import { clientOf } from '../support/client.ts'
import { startHttpProxy } from '../support/http-proxy.ts'
import { onlyLong } from '../support/long.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { startServerProcess } from '../support/server-process.ts'
import { hasProgram } from '../support/shell.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'
import { chunk, textReply } from '../support/upstream-replies.ts'

const server = await startServer()

describe('A server on the loopback', () => {
  itServesTheWholeClient(async (more) => clientOf(server, more))
})

describe('A server behind a path', () => {
  itServesTheWholeClient(async (more) => {
    const proxy = await startHttpProxy(server, { prefix: '/team/agent' })
    return clientOf({ url: `${proxy.url}/` }, more)
  })
})

describe.skipIf(!hasProgram('openssl'))('A server behind TLS and a path (needs openssl)', () => {
  const start = async () => {
    const authority = await createCertificateAuthority()
    const tls = await authority.issue('IP:127.0.0.1')
    return { authority, proxy: await startHttpProxy(server, { prefix: '/agent', tls }) }
  }

  itServesTheWholeClient(async (more) => {
    const { authority, proxy } = await start()
    trust(authority.certificate)
    return clientOf(proxy, more)
  })

  it('is not reached where its authority is not trusted', async () => {
    const { proxy } = await start()
    const failure = clientOf(proxy, { maxRetries: 0 }).agent.get()
    await expect(failure).rejects.toMatchObject({ name: 'ConnectionError' })
  })
})

describe('A server that is killed and started again', () => {
  /** A server process that keeps its port and its data. */
  async function startKillable(environment: Record<string, string> = {}) {
    const directory = await temporaryDirectory()
    const first = await startServerProcess(environment, { directory })
    const again = { ...environment, PORT: new URL(first.url).port }
    return { first, restart: () => startServerProcess(again, { directory }) }
  }

  it('in mid-upload has the file in the end, once', onlyLong, async () => {
    const { first, restart } = await startKillable()
    const path = join(await temporaryDirectory(), 'noise.dat')
    const bytes = 24_000_000
    await writeFile(path, Buffer.alloc(bytes, 1))
    let restarted: ReturnType<typeof restart> | undefined
    const { documents } = clientOf(first, { maxRetries: 30 })
    const attempts: number[] = []
    const { id } = await documents.upload(path, {
      onProgress(sent) {
        if (sent === 0) attempts.push(sent)
        if (sent > bytes / 3) restarted ??= first.crash().then(restart)
      },
    })
    await restarted
    expect(attempts.length).toBeGreaterThan(1)
    expect(await Array.fromAsync(documents.list(), (document) => document.id)).toEqual([id])
    expect((await documents.get(id)).file).toMatchObject({ name: 'noise.dat', size: bytes })
  })

  it('in mid-stream interrupts the answer, and answers the next question', onlyLong, async () => {
    const upstream = await startScriptedUpstream()
    const { first, restart } = await startKillable(modelAt(upstream))
    const client = clientOf(first)
    const request = { messages: [{ role: 'user' as const, content: 'When do owls hunt?' }] }
    upstream.script({
      steps: [chunk({ role: 'assistant', content: 'Owls hunt' }), { hang: true }],
    })
    const stream = client.chat(request)
    stream.on('text', () => void first.crash())
    const failure = await stream.result().catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StreamInterruptedError)
    expect(failure).toMatchObject({ text: 'Owls hunt', cause: { name: 'ConnectionError' } })
    await first.exited
    await restart()
    upstream.script(textReply('At night.'))
    expect(await client.chat(request).text()).toBe('At night.')
  })
})
