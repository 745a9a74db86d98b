import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, readFile, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DocumentCreated } from '@agent-server/schemas/document.ts'
import { QueryResponse } from '@agent-server/schemas/query.ts'
import { describe, expect, it } from 'vitest'
import { readChat } from '../support/chat-reader.ts'
import { onlyLong } from '../support/long.ts'
import { type Launched, launch } from '../support/server-process.ts'
import { hasProgram, openShell } from '../support/shell.ts'
import { ROOT } from '../support/source-tree.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

/** The repository's files as a clone would bring them, with the packages that are installed here. */
async function cloneRepository(): Promise<string> {
  const directory = await temporaryDirectory()
  const parameters = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const listed = execFileSync('git', parameters, { cwd: ROOT, encoding: 'utf8' })
  const here = fileURLToPath(ROOT)
  const files = listed.split('\0').filter((file) => file !== '' && existsSync(join(here, file)))
  for (const file of files) await cp(join(here, file), join(directory, file))
  await symlink(join(here, 'node_modules'), join(directory, 'node_modules'))
  return directory
}

function npmStart(directory: string): Launched {
  return launch({ directory, command: ['npm', 'start'], environment: { PORT: '0' } })
}

/** The commands that are printed to be pasted; a backslash carries one on to the next line. */
function printedCommands(text: string): string[] {
  return Array.from(text.matchAll(/^curl (?:.*\\\n)*.*$/gm), ([command]) => command)
}

/** Two clones and starts; on a busy machine each takes a while. */
const TIMEOUT_MS = 120_000

describe.skipIf(!hasProgram('curl') || !hasProgram('npm') || !hasProgram('git'))(
  'A fresh clone (needs curl, git and npm)',
  { timeout: TIMEOUT_MS },
  () => {
    it(
      'writes a .env, and its three printed commands lead to a cited answer as they are',
      onlyLong,
      async () => {
        const directory = await cloneRepository()
        const started = performance.now()
        const server = npmStart(directory)
        await server.said(/Everything else:/)

        const key = /^SERVER_API_KEY=(.+)$/m.exec(
          await readFile(join(directory, '.env'), 'utf8'),
        )?.[1]
        expect(key).toMatch(/^[\w-]{32}$/)
        expect((await stat(join(directory, '.env'))).mode & 0o777).toBe(0o600)
        expect(server.stdout).toContain(`Your key is ${key}`)

        const commands = printedCommands(server.stdout)
        expect(commands).toHaveLength(3)
        const [add = '', query = '', chat = ''] = commands
        const shell = openShell(directory)
        const created = DocumentCreated.parse(JSON.parse(await shell.paste(`${add} -s`)))
        expect(created.status).toBe('ready')
        const { id } = created
        const { hits } = QueryResponse.parse(JSON.parse(await shell.paste(`${query} -s`)))
        expect(hits).toMatchObject([{ documentId: id, title: 'Opening hours' }])
        const answer = await readChat(new Response(`${await shell.paste(`${chat} -s`)}`))
        expect(answer.answer).toMatch(/On Saturdays it opens at ten\. \[1\]/)
        expect(answer.done?.hits[0]?.documentId).toBe(id)

        const seconds = (performance.now() - started) / 1_000
        process.stdout.write(`npm start to the first cited answer: ${seconds.toFixed(1)} s\n`)
      },
    )

    it('keeps its key and prints none at the second start', onlyLong, async () => {
      const directory = await cloneRepository()
      const first = npmStart(directory)
      await first.said(/Everything else:/)
      const environment = await readFile(join(directory, '.env'), 'utf8')
      first.send('SIGINT')
      await first.exited

      const second = npmStart(directory)
      await second.said(/listening at/)
      second.send('SIGINT')
      await second.exited
      const key = /^SERVER_API_KEY=(.+)$/m.exec(environment)?.[1] ?? ''
      expect(key).not.toBe('')
      expect(second.stdout).not.toContain(key)
      expect(second.stdout).not.toContain('curl')
      expect(await readFile(join(directory, '.env'), 'utf8')).toBe(environment)
    })
  },
)
