import { execFile, execFileSync } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { freePort, launch } from '../support/server-process.ts'
import { ROOT } from '../support/source-tree.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const run = promisify(execFile)
const PACK = fileURLToPath(new URL('scripts/pack.ts', ROOT))
const LISTENING = /listening at (http:\/\/\S+?),/
const FIRST_ANSWER_MS = 60_000
const INSTALL_MS = 400_000

/** Whether npm reaches the packages that the server depends on. */
function reachesRegistry(): boolean {
  try {
    execFileSync('npm', ['view', 'zod', 'version'], { stdio: 'ignore', timeout: 30_000 })
    return true
  } catch {
    return false
  }
}

describe.skipIf(!reachesRegistry())('The packages (need a registry of npm packages)', () => {
  it(
    'install into an empty folder, where npx starts a server that cites within a minute',
    async () => {
      const packed = join(await temporaryDirectory(), 'packages')
      await run(process.execPath, [PACK, '--to', packed])
      const names = await readdir(packed)
      const tarballs = names.filter((name) => name.endsWith('.tgz'))
      expect(tarballs).toHaveLength(3)
      await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: packed })

      const directory = await temporaryDirectory()
      // With installation scripts, as for everybody.
      await run('npm', ['install', ...tarballs.map((name) => join(packed, name))], {
        cwd: directory,
        timeout: INSTALL_MS,
      })
      const started = performance.now()
      const server = launch({
        directory,
        command: ['npx', 'agent-server'],
        environment: {
          PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
          PORT: await freePort(),
        },
      })
      const url = LISTENING.exec(await server.said(LISTENING))?.[1] ?? ''
      const key = /^SERVER_API_KEY=(.+)$/m.exec(
        await readFile(join(directory, '.env'), 'utf8'),
      )?.[1]
      const post = (path: string, body: unknown) =>
        fetch(`${url}${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })

      const document = await post('/documents?wait=30', { text: 'Owls hunt at night.' })
      expect(await document.json()).toMatchObject({ status: 'ready' })
      const question = { messages: [{ role: 'user', content: 'When do owls hunt?' }] }
      expect(await (await post('/chat', question)).text()).toMatch(/"citations":\[\{.*"number":1/)
      expect(performance.now() - started).toBeLessThan(FIRST_ANSWER_MS)

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
      server.send('SIGTERM')
      await server.exited
    },
    INSTALL_MS + 2 * FIRST_ANSWER_MS,
  )
})
