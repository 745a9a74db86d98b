import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DocumentList } from '@agent-server/schemas/document.ts'
import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { search } from '../support/knowledge.ts'
import { onlyLong } from '../support/long.ts'
import { startScriptedEmbedder } from '../support/scripted-embedder.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { defaults, type Exit, launch, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const DONE: Exit = { code: 0, signal: null }

function run(directory: string, environment: Record<string, string>, ...command: string[]) {
  return launch({
    directory,
    environment: { ...defaults(), ...environment },
    command: [process.execPath, MAIN, ...command],
  })
}

/** What clients see of a corpus. */
async function seen(server: TestServer) {
  const list = await server.request('/documents?limit=100')
  const { documents } = DocumentList.parse(await list.json())
  const chunks = documents.map(async ({ id }) =>
    (await server.request(`/documents/${id}/chunks`)).json(),
  )
  return {
    documents,
    chunks: await Promise.all(chunks),
    hits: await Promise.all(
      ['car', 'automobile', 'doctor of patients'].map((q) => search(server, q, 3)),
    ),
  }
}

describe('npm run export and npm run import', () => {
  it.each([
    ['import', 'data.zst', 'data.zst does not exist'],
    ['export', 'nowhere/data.zst', 'nowhere/data.zst.part does not exist'],
    ['import', '.', '. is a folder: nothing was imported'],
    ['import', 'file/data.zst', 'file/data.zst is not inside a folder'],
    ['export', 'file/data.zst', 'file/data.zst is not inside a folder'],
  ])('say in words what is wrong with a path: %s %s', onlyLong, async (command, path, words) => {
    const directory = await temporaryDirectory()
    await writeFile(join(directory, 'file'), '')
    if (command === 'export') {
      const server = await startServerProcess({}, { directory })
      await server.stop()
    }
    const ended = run(directory, {}, command, path)
    expect(await ended.exited).toEqual({ code: 1, signal: null })
    expect(ended.stderr).toBe(`${words}\n`)
  })

  it(
    'carry a corpus from a running server into a new directory, where it is the same and nothing is embedded again',
    verifies('transfer.round-trip'),
    async () => {
      const embedder = await startScriptedEmbedder()
      const environment = {
        EMBEDDING_MODEL: 'model-a',
        EMBEDDING_BASE_URL: embedder.url,
        EMBEDDING_API_KEY: 'any',
      }
      const from = await startServerProcess(environment)
      for (const [title, text] of [
        ['Vehicles', 'A car needs fuel and four wheels.'],
        ['Medicine', 'The doctor sees patients.'],
        ['Lang', `${'Ein Satz über Autos und Ärzte. '.repeat(400)}`],
      ] as const) {
        await from.ingest({ title, text })
      }
      const file = join(await temporaryDirectory(), 'corpus.zst')
      const exporting = run(from.directory, environment, 'export', file)
      expect(await exporting.exited).toEqual(DONE)
      expect(exporting.stderr).toMatch(/holds 3 documents with \d+ chunks\n$/)
      const before = await seen(from)
      await from.stop()

      const directory = await temporaryDirectory()
      embedder.reply = ({ input }) =>
        input.some((text) => text.includes('wheels')) ? { status: 500, body: {} } : undefined
      const importing = run(directory, environment, 'import', file)
      expect(await importing.exited).toEqual(DONE)
      expect(importing.stderr).toMatch(/^Imported 3 documents with \d+ chunks\n$/)
      const to = await startServer({ ...environment, DATA_DIR: join(directory, 'data') })
      expect(await seen(to)).toEqual(before)
      await to.ingest({ text: 'A document that comes later.' })
    },
  )

  it('refuse what does not fit, and change nothing', {
    ...onlyLong,
    ...verifies('transfer.refused'),
  }, async () => {
    const from = await startServerProcess()
    await from.ingest({ text: 'Some words.' })
    const file = join(await temporaryDirectory(), 'corpus.zst')
    expect(await run(from.directory, {}, 'export', file).exited).toEqual(DONE)
    const refused = async (directory: string, environment: Record<string, string>) => {
      const importing = run(directory, environment, 'import', file)
      expect(await importing.exited).toEqual({ code: 1, signal: null })
      return importing.stderr
    }
    expect(await refused(from.directory, {})).toMatch(/^Another server is using/)
    await from.stop()
    expect(await refused(from.directory, {})).toMatch(
      /agent-server\.db already contains 1 documents\./,
    )

    const again = run(from.directory, {}, 'export', file)
    expect(await again.exited).toEqual({ code: 1, signal: null })
    expect(again.stderr).toMatch(/^The file .* already exists\n$/)
  })

  it.each(['export', 'import'])('say how %s is called', onlyLong, async (name) => {
    const running = run(await temporaryDirectory(), {}, name)
    expect(await running.exited).toEqual({ code: 2, signal: null })
    expect(running.stderr).toBe(`Usage: npm run ${name} -- <file.zst>\n`)
  })
})
