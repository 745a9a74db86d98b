import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { StreamInterruptedError } from '../../client/src/agent-server.ts'
import { createCertificateAuthority } from '../support/certificates.ts'
import { clientOf } from '../support/client.ts'
import { startHttpProxy } from '../support/http-proxy.ts'
import { isLong } from '../support/long.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, type StartedServer, startServer } from '../support/server.ts'
import { startServerProcess } from '../support/server-process.ts'
import { hasProgram } from '../support/shell.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'
import { chunk, textReply } from '../support/upstream-replies.ts'

let server: StartedServer

beforeAll(async () => {
  server = await startServer()
  return server.close
})

/** Everything that goes over the wire in a way of its own: JSON, forms, streams, files, refusals. */
async function useAll({ url }: { url: string }): Promise<void> {
  const client = clientOf({ url })
  const { id } = await client.documents.create(
    { title: 'Owls', text: 'Owls hunt at night.' },
    { wait: 20 },
  )
  const file = new File(['Herons fish by day.'], 'herons.txt')
  const uploaded = await client.documents.upload(file, { wait: 20 })
  expect(await (await client.documents.file(uploaded.id)).text()).toBe('Herons fish by day.')
  const { hits } = await client.query({ query: 'When do owls hunt?' })
  expect(hits[0]?.documentId).toBe(id)
  const request = { messages: [{ role: 'user' as const, content: 'When do owls hunt?' }] }
  expect(await client.chat(request).text()).toContain('Owls hunt at night. [1]')
  await expect(client.documents.get('none')).rejects.toMatchObject({ code: 'document_not_found' })
  await client.documents.delete(id)
  await client.documents.delete(uploaded.id)
}

describe('The whole client works', () => {
  it('with a server on the loopback', () => useAll(server))

  it('with a server behind a path', async () => {
    const proxy = await startHttpProxy(server, { prefix: '/team/agent' })
    await useAll({ url: `${proxy.url}/` })
    expect(proxy.requests.every(({ path }) => path.startsWith('/team/agent/'))).toBe(true)
  })

  it.skipIf(!hasProgram('openssl'))(
    'with a server behind TLS and a path (needs openssl)',
    async () => {
      const authority = await createCertificateAuthority()
      const tls = await authority.issue('IP:127.0.0.1')
      const proxy = await startHttpProxy(server, { prefix: '/agent', tls })
      const failure = clientOf(proxy, { maxRetries: 0 }).agent.get()
      await expect(failure).rejects.toMatchObject({ name: 'ConnectionError' })
      const before = getCACertificates('default')
      onTestFinished(() => setDefaultCACertificates(before))
      setDefaultCACertificates([...before, readFileSync(authority.certificate, 'utf8')])
      await useAll(proxy)
    },
  )
})

describe('A server that is killed and started again', () => {
  /** A server process that keeps its port and its data. */
  async function startKillable(environment: Record<string, string> = {}) {
    const directory = await temporaryDirectory()
    const first = await startServerProcess(environment, { directory })
    const again = { ...environment, PORT: new URL(first.url).port }
    return { first, restart: () => startServerProcess(again, { directory }) }
  }

  it('in mid-upload has the file in the end, once', async () => {
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

  it.runIf(isLong)(
    'in mid-stream interrupts the answer, and answers the next question',
    async () => {
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
    },
  )
})
