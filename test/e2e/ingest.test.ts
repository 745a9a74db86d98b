import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { search } from '../support/knowledge.ts'
import { long, onlyLong, someOf } from '../support/long.ts'
import { startServer, TEST_KEY } from '../support/server.ts'
import { AGENT_SERVER, launch } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

async function folderOf(files: Record<string, string>): Promise<string> {
  const folder = join(await temporaryDirectory(), 'docs')
  await mkdir(folder)
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

async function run(parameters: string[], environment: Record<string, string> = {}) {
  const directory = await temporaryDirectory()
  const running = launch({
    directory,
    environment: { SERVER_API_KEY: TEST_KEY, ...environment },
    command: [...AGENT_SERVER, 'add', ...parameters],
  })
  const { code } = await running.exited
  return { code, stderr: running.stderr, stdout: running.stdout }
}

const server = await startServer()

describe('npm run ingest, which is agent-server-client add beside a server', () => {
  it(
    'brings a folder to a running server, and the second time only what has changed',
    verifies('ingest.folder', 'ingest.resume'),
    async () => {
      const folder = await folderOf({ 'a.md': 'Ants march.', 'b.txt': 'Bees hum.' })
      const parameters = [folder, '--server', server.url, '--metadata', 'language=en']
      expect(await run(parameters)).toEqual({
        code: 0,
        stderr: '',
        stdout: '2 ready, 0 unchanged, 0 failed\n',
      })
      expect(await search(server, 'bees')).toMatchObject([{ metadata: { language: 'en' } }])
      await writeFile(join(folder, 'b.txt'), 'Bees dance.')
      expect(await run(parameters)).toMatchObject({ stdout: '1 ready, 1 unchanged, 0 failed\n' })
    },
  )

  it('ends with 1 where a file failed, and says why', {
    ...verifies('ingest.failed'),
    ...onlyLong,
  }, async () => {
    const folder = await folderOf({ 'c.md': 'Cats nap.', 'half.pdf': '%PDF-1.4 ' })
    expect(await run([folder, '--server', server.url])).toEqual({
      code: 1,
      stderr: '',
      stdout: expect.stringMatching(
        /^1 ready, 0 unchanged, 1 failed\n {2}docs\/half\.pdf: damaged_file: .+\n$/,
      ),
    })
  })

  it('succeeds if some files are of an unsupported type', async () => {
    const folder = await folderOf({ 'd.md': 'Dogs bark.', 'setup.exe': 'MZ' })
    expect(await run([folder, '--server', server.url])).toEqual({
      code: 0,
      stderr: '',
      stdout: '1 ready, 0 unchanged, 0 failed, 1 left out\n  skipped as a Windows program: 1\n',
    })
  })

  it.each(
    someOf<[string, string[], Record<string, string>, RegExp, number]>(
      [
        ['no folder', [], {}, /^add takes files, folders or -/, 2],
        ['a folder that is not there', ['nowhere'], {}, /nowhere does not exist/, 1],
        ['an unknown option', ['.', '--all'], {}, /^Unknown option '--all'/, 2],
        ['a server that is no URL', ['.', '--server', 'localhost:3000'], {}, /^--url must be/, 2],
        ['metadata without a value', ['.', '--metadata', 'x'], {}, /^--metadata must be/, 2],
        ['too many files at a time', ['.', '--concurrency', '33'], {}, /^--concurrency must be/, 2],
        ['no key', ['.'], { SERVER_API_KEY: '' }, /AGENT_SERVER_KEY/, 4],
      ],
      2,
    ),
  )('says what is wrong with %s', long, async (_what, parameters, environment, problem, code) => {
    const ended = await run(parameters, environment)
    expect(ended).toMatchObject({ code, stderr: expect.stringMatching(problem) })
    expect(ended.stderr).not.toContain('    at ')
  })
})
