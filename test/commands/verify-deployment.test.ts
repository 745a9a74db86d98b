import { describe, expect, it } from 'vitest'
import { verifyDeployment } from '../../packages/deploy/src/verify.ts'
import { onlyLong } from '../support/long.ts'
import { startPlatformProxy } from '../support/platform-proxy.ts'
import { startServer, TEST_KEY } from '../support/server.ts'

async function verify(url: string, key = TEST_KEY, seconds = ['--seconds', '1']) {
  const said: string[] = []
  const environment = { AGENT_SERVER_KEY: key }
  const code = await verifyDeployment({
    parameters: ['verify', url, ...seconds],
    environment,
    stderr: { write: (text: string) => void said.push(text) },
    signal: new AbortController().signal,
  })
  return { code, said: said.join('') }
}

describe('npm run deploy -- verify', () => {
  it('passes on a server that works, and leaves nothing behind', async () => {
    const { url, request } = await startServer()
    const { code, said } = await verify(url)
    expect(said).not.toContain('FAILED')
    expect(said).toContain('10 of 10 passed')
    expect(code).toBe(0)
    expect(await (await request('/documents')).json()).toMatchObject({ documents: [] })
  })

  it('names what failed, tries the rest, and ends with 1', onlyLong, async () => {
    const { url } = await startServer()
    const { code, said } = await verify(url, 'another-key-than-that')
    expect(code).toBe(1)
    expect(said).toMatch(/^ok +health/m)
    expect(said).toMatch(/^FAILED ingest/m)
    expect(said).toMatch(/^FAILED long stream/m)
    expect(said).not.toContain('another-key-than-that')
  })

  it('passes through a proxy', onlyLong, async () => {
    const server = await startServer()
    expect((await verify((await startPlatformProxy(server, {})).url)).code).toBe(0)
  })

  it('fails where a proxy holds answers back until they are whole', onlyLong, async () => {
    const proxy = await startPlatformProxy(await startServer(), { isBuffering: true })
    const { code, said } = await verify(proxy.url)
    expect(code).toBe(1)
    expect(said).toMatch(/^FAILED long stream/m)
    expect(said).toContain('9 of 10 passed')
  })

  it('says in words that there is no such option', async () => {
    const called = verify('http://127.0.0.1:9', TEST_KEY, ['--second', '1'])
    await expect(called).rejects.toMatchObject({
      name: 'Error',
      message: expect.stringContaining('--second'),
    })
  })
})
