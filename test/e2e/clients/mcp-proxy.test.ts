import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { expect, it, onTestFinished } from 'vitest'
import { connectTo } from '../../agent/mcp/remote-server-for-test.ts'
import { freePort } from '../../support/server-process.ts'

const program = new URL('node_modules/.bin/mcp-proxy', import.meta.url).pathname
const everything = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
)
const KEY = 'a-key-of-the-proxy'

it('uses the tools of a program that mcp-proxy puts behind HTTP, with its key alone', {
  timeout: 60_000,
}, async () => {
  const port = await freePort()
  const proxy = `--host 127.0.0.1 --port ${port} --server stream --apiKey ${KEY} --`.split(' ')
  const child = spawn(program, [...proxy, process.execPath, everything, 'stdio'], {
    env: { PATH: process.env.PATH },
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    child.kill()
    await ended
  })
  const url = `http://127.0.0.1:${port}/mcp`
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how it is to be written
  const headers = { 'X-API-Key': '${PROXY_KEY}' }
  const { connection, call } = await connectTo(url, { headers }, { PROXY_KEY: KEY })
  await expect.poll(() => connection.prove(0).then(Boolean, String), { timeout: 30_000 }).toBe(true)
  expect(await call('echo', { message: 'one lamp' })).toContain('Echo: one lamp')

  const stranger = await connectTo(url)
  await expect(stranger.connection.prove(0)).rejects.toThrow()
  expect(stranger.connection.reason).toContain('requires credentials')
})
