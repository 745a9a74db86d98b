import { execFileSync } from 'node:child_process'
import { chmod, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Hit } from '@agent-server/schemas/query.ts'
import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { fixture } from '../support/forms.ts'
import { listDocuments, search } from '../support/knowledge.ts'
import { isLong, onlyLong } from '../support/long.ts'
import { pdfFile } from '../support/pdf-file.ts'
import { startServer, TEST_KEY, type TestServer } from '../support/server.ts'
import { AGENT_SERVER, launch, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'
import { zipFile } from '../support/zip-file.ts'

const FIXTURES = new URL('../fixtures/files/', import.meta.url)
const WORD = 'word/document.xml'
const LAUGHS = `<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "${'&a;'.repeat(9)}">]><l>&b;</l>`

/** What `agent-server-client add` says of each file that fails. */
const HOSTILE: [name: string, bytes: Uint8Array | string, reason: RegExp][] = [
  ['bomb.docx', zipFile([{ name: WORD, content: Buffer.alloc(150_000_000) }]), /file_too_complex/],
  ['laughs.docx', zipFile([{ name: WORD, content: LAUGHS }]), /damaged_file|file_too_complex/],
  ['half.pptx', fixture('kingfishers.pptx').subarray(0, 9_000), /damaged_file/],
  ['noise.dat', Uint8Array.from({ length: 999 }, (_, i) => (i * 7) % 32), /unsupported_file/],
]
/** Left out. */
const EMPTY: [name: string, content: string][] = [
  ['empty.txt', ''],
  ['blank.md', ' \n '],
  ['empty.pdf', ''],
]
const PASSWORDS = ['password.docx', 'password.pdf', 'password.xlsx']

/** Every type that there is, some of them broken or hostile, and what is no file at all. */
async function makeFolder(): Promise<string> {
  const folder = join(await temporaryDirectory(), 'birds')
  await mkdir(join(folder, 'птицы'), { recursive: true })
  for (const name of await readdir(FIXTURES)) await writeFile(join(folder, name), fixture(name))
  // Of two documents that say the same a search shows the one that was ready first, whichever that is.
  await rm(join(folder, 'russian.windows-1251.txt'))
  for (const [name, bytes] of [...HOSTILE, ...EMPTY]) await writeFile(join(folder, name), bytes)
  await writeFile(join(folder, 'program.pdf'), 'MZ\x90\0\x03\0\0\0')
  // Of its own, likewise.
  const pdf = pdfFile({ pages: ['Siskins eat the seeds of alders.'] })
  await writeFile(join(folder, 'no-table.csv'), pdf)
  await writeFile(join(folder, 'птицы', 'дрозд\nпевчий.txt'), 'Певчий дрозд поёт на рассвете.')
  const nests = Array.from({ length: 100 }, (_, i) => `zq${i}q,${i % 7}`)
  await writeFile(join(folder, 'nests.csv'), `nest,eggs\n${nests.join('\n')}\n`)
  await writeFile(join(folder, 'secret.txt'), 'Nobody may read this.')
  await chmod(join(folder, 'secret.txt'), 0)
  await writeFile(join(folder, '..', 'outside.txt'), 'Outside of the folder.')
  await symlink(join(folder, '..', 'outside.txt'), join(folder, 'link.txt'))
  execFileSync('mkfifo', [join(folder, 'pipe.txt')])
  return folder
}

function startImport(server: TestServer, folder: string, directory: string) {
  return launch({
    directory,
    environment: { AGENT_SERVER_KEY: TEST_KEY },
    command: [...AGENT_SERVER, 'add', folder, '--url', server.url],
  })
}

async function runImport(server: TestServer, folder: string) {
  const running = startImport(server, folder, await temporaryDirectory())
  const { code } = await running.exited
  return { code, output: running.stdout }
}

/** The best hit of a document with this title. */
async function hitOf(server: TestServer, query: string, title: string): Promise<Hit> {
  const hits = await search(server, query, 50)
  const hit = hits.find((each) => each.title === title)
  if (!hit) throw new Error(`${title} is not found by ${query}`)
  return hit
}

describe('A folder of files of every type', () => {
  it('is imported: each file is ready, or failed with a reason', {
    ...onlyLong,
    ...verifies('ingest.folder', 'ingest.failed', 'files.types', 'files.hostile', 'files.pages'),
  }, async () => {
    const server = await startServerProcess()
    const folder = await makeFolder()
    const { code, output } = await runImport(server, folder)
    expect(code).toBe(1)
    const isRoot = process.getuid?.() === 0
    const failed = HOSTILE.length + PASSWORDS.length + (isRoot ? 0 : 1)
    expect(output).toMatch(new RegExp(`^\\d+ ready, 0 unchanged, ${failed} failed, 4 left out\\n`))
    expect(output).toMatch(/skipped as an empty file: 3/)
    expect(output).toMatch(/skipped as a Windows program: 1/)
    for (const [name, , reason] of HOSTILE) {
      expect(output).toMatch(new RegExp(`^ {2}birds/${name}: .*(?:${reason.source})`, 'm'))
    }
    for (const name of PASSWORDS) expect(output).toMatch(new RegExp(`${name}: encrypted_file: `))
    if (!isRoot) expect(output).toMatch(/secret\.txt: cannot be read \(EACCES\)/)
    expect(output).not.toMatch(/link\.txt|pipe\.txt|outside/)
    expect(await search(server, 'outside of the folder')).not.toMatchObject([
      { text: /Outside of/ },
    ])

    const found = await Promise.all([
      hitOf(server, 'five lemmings a snowy owl eats', 'owls.pdf'),
      hitOf(server, 'why are kingfisher feathers blue', 'kingfishers.pptx'),
      hitOf(server, 'robin ringed', 'ringing.xlsx'),
      hitOf(server, 'arctic tern pairs on Farne', 'terns.csv'),
      hitOf(server, 'nest zq60q', 'nests.csv'),
      hitOf(server, 'wingspan of the grey heron', 'herons.docx'),
      hitOf(server, 'pelicans fish in groups', 'pelicans.html'),
      hitOf(server, 'what are swift nests glued with', 'swifts.epub'),
      hitOf(server, 'curlew brooding', 'curlew.eml'),
      hitOf(server, 'storks build nests on roofs', 'storks.md'),
      hitOf(server, 'сова в тёмном лесу', 'russian.koi8-r.txt'),
      hitOf(server, 'певчий дрозд поёт', 'дрозд\nпевчий.txt'),
    ])
    expect(found).toMatchObject([
      { page: 1, pageEnd: expect.any(Number) },
      { page: expect.any(Number) },
      { heading: expect.stringMatching(/\S/), text: expect.stringMatching(/Robin/i) },
      { text: expect.stringMatching(/Arctic tern/) },
      { heading: 'Rows 52 to 76', text: expect.stringMatching(/nest: zq60q/) },
      ...Array.from({ length: 5 }, () => ({ heading: expect.stringMatching(/\S/) })),
      { text: expect.stringMatching(/тёмном лесу/) },
      { text: expect.stringMatching(/дрозд/) },
    ])
    expect(server.log().filter(({ level }) => level >= 50)).toEqual([])
  })

  it('is continued after the importer was killed, without duplicates', {
    ...onlyLong,
    ...verifies('ingest.resume'),
  }, async () => {
    const server = await startServer()
    const folder = join(await temporaryDirectory(), 'pages')
    await mkdir(folder)
    const files = isLong ? 60 : 16
    for (let i = 0; i < files; i++) {
      await writeFile(join(folder, `${i}.pdf`), pdfFile({ pages: [`Owl number${i}.`] }))
    }
    for (let kill = 0; kill < (isLong ? 2 : 1); kill++) {
      const running = startImport(server, folder, await temporaryDirectory())
      await untilMore(server, (kill + 1) * (files / 6))
      running.send('SIGKILL')
      await running.exited
    }
    const { code, output } = await runImport(server, folder)
    const [, ready = 0, unchanged = 0] =
      /^(\d+) ready, (\d+) unchanged, 0 failed/.exec(output) ?? []
    expect(code).toBe(0)
    expect(Number(ready) + Number(unchanged)).toBe(files)
    expect(Number(unchanged)).toBeGreaterThanOrEqual(Math.floor(files / 6))
    const { documents } = await listDocuments(server, '?limit=100')
    expect(documents).toHaveLength(files)
    expect(await search(server, 'number7', 50)).toHaveLength(1)

    await writeFile(join(folder, '7.pdf'), pdfFile({ pages: ['Heron instead.'] }))
    await rm(join(folder, '8.pdf'))
    expect((await runImport(server, folder)).output).toBe(
      `1 ready, ${files - 2} unchanged, 0 failed\n`,
    )
    expect(await search(server, 'number7')).toEqual([])
    expect(await search(server, 'number8', 50)).toHaveLength(1)
  })
})

async function untilMore(server: TestServer, count: number): Promise<void> {
  for (;;) {
    const { documents } = await listDocuments(server, '?limit=100&status=ready')
    if (documents.length >= count) return
    await pause(20)
  }
}
