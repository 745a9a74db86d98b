import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type StartedServer, startServer, TEST_KEY } from '../support/server.ts'
import { hasProgram } from '../support/shell.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const run = promisify(execFile)
const CLIENT = fileURLToPath(new URL('../../packages/client', import.meta.url))
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'

/** What the client does in each: forms, JSON, a stream to its end, one that is left, a refusal. */
const PROGRAM = `
export async function useClient({ AgentServer, NotFoundError }, options, path) {
  const client = new AgentServer(options)
  const file = path ?? new File(['Owls hunt at night.'], 'owls.txt')
  const progress = []
  const { status } = await client.documents.upload(file, { wait: 20, onProgress: (sent) => progress.push(sent) })
  const streamed = new Blob(['Herons fish by day.']).stream()
  await client.documents.upload(streamed, { name: 'herons.txt', wait: 20 })
  const { hits } = await client.query({ query: 'When do owls hunt?' })
  const request = { messages: [{ role: 'user', content: 'When do owls hunt?' }] }
  const text = await client.chat(request).text()
  for await (const event of client.chat(request)) if (event.type === 'text-delta') break
  const missing = await client.documents.get('none').catch((error) => error instanceof NotFoundError)
  let listed = 0
  for await (const document of client.documents.list({ limit: 1 })) listed += 1
  return { status, found: hits.length > 0, text, missing, listed: listed >= 2, progress: progress.length > 0 }
}`

const WORKS = {
  status: 'ready',
  found: true,
  missing: true,
  listed: true,
  progress: true,
  text: expect.stringContaining('Owls hunt at night. [1]'),
}

let server: StartedServer
let compiled = ''

beforeAll(async () => {
  server = await startServer({ CORS_ORIGIN: '*' })
  await run(process.execPath, [join(CLIENT, 'node_modules/typescript/bin/tsc'), '-p', CLIENT])
  compiled = join(CLIENT, 'dist')
  return async () => {
    await server.close()
    await run('rm', ['-r', compiled])
  }
})

/** A folder with the compiled client, the program, and a file to upload. */
async function makeProject(): Promise<string> {
  const directory = await temporaryDirectory()
  await cp(compiled, join(directory, 'client'), { recursive: true })
  await writeFile(join(directory, 'program.js'), PROGRAM)
  await writeFile(join(directory, 'package.json'), '{"type": "module"}')
  await writeFile(join(directory, 'owls.txt'), 'Owls hunt at night.')
  const options = JSON.stringify({ baseURL: server.url, apiKey: TEST_KEY })
  await writeFile(
    join(directory, 'main.js'),
    `import * as client from './client/agent-server.js'
     import { useClient } from './program.js'
     console.log(JSON.stringify(await useClient(client, ${options}, 'owls.txt')))`,
  )
  return directory
}

describe('The client in other runtimes', () => {
  it.skipIf(!hasProgram('bun'))('works in Bun (needs bun)', async () => {
    const { stdout } = await run('bun', ['main.js'], { cwd: await makeProject() })
    expect(JSON.parse(stdout)).toMatchObject(WORKS)
  })

  it.skipIf(!hasProgram('deno'))('works in Deno (needs deno)', async () => {
    const rights = ['--allow-net', '--allow-read', '--allow-env']
    const { stdout } = await run('deno', ['run', ...rights, 'main.js'], {
      cwd: await makeProject(),
    })
    expect(JSON.parse(stdout)).toMatchObject(WORKS)
  })

  it.skipIf(!existsSync(CHROMIUM))('works in a browser (needs Chromium)', async () => {
    const directory = await makeProject()
    const answer = async (url: string, response: ServerResponse) => {
      const file =
        url === '/' ? '' : await readFile(join(directory, normalize(url))).catch(() => '')
      response.setHeader('content-type', file ? 'text/javascript' : 'text/html').end(file)
    }
    const pages = createServer(({ url = '/' }, response) => void answer(url, response))
    pages.listen(0, '127.0.0.1')
    await once(pages, 'listening')
    onTestFinished(() => void pages.close())
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
    onTestFinished(() => browser.close())
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${portOf(pages.address())}/`)
    const options = JSON.stringify({ baseURL: server.url, apiKey: TEST_KEY })
    const outcome = await page.evaluate(
      `Promise.all([import('/client/agent-server.js'), import('/program.js')])
        .then(([client, { useClient }]) => useClient(client, ${options}))`,
    )
    expect(outcome).toMatchObject(WORKS)
  })
})

function portOf(address: AddressInfo | string | null): number {
  if (typeof address === 'object' && address) return address.port
  throw new Error('There is no port')
}
