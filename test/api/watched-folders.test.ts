import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Document } from '@agent-server/schemas/document.ts'
import { ApiKeyCreated } from '@agent-server/schemas/operator/api-key.ts'
import { WatchedFolders } from '@agent-server/schemas/operator/watch.ts'
import { describe, expect, it } from 'vitest'
import { listDocuments, search } from '../support/knowledge.ts'
import { onlyLong } from '../support/long.ts'
import { speakingFor } from '../support/people.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

/** A file is taken two seconds after its last change, and ingested then. */
const SOON = { timeout: 30_000, interval: 50 }

const base = await temporaryDirectory()
const at = (...names: string[]) => join(base, ...names)

async function write(path: string, text: string): Promise<void> {
  await mkdir(join(at(path), '..'), { recursive: true })
  await writeFile(at(path), text)
}

const foldersOf = async ({ request }: TestServer) =>
  WatchedFolders.parse(await (await request('/admin/folders')).json()).folders

async function stateOf(name: string, from: TestServer = server) {
  const folder = (await foldersOf(from)).find(({ path }) => path === at(name))
  if (!folder) throw new Error(`${name} is not watched`)
  return folder
}

/** The documents that came from a folder, by the path of their files. */
async function documentsOf(name: string, from: TestServer = server) {
  const filter = encodeURIComponent(JSON.stringify({ field: 'watched_folder', eq: at(name) }))
  const { documents } = await listDocuments(from, `?limit=100&filter=${filter}`)
  return new Map(documents.map((each) => [String(each.metadata?.watched_path), each]))
}

const statesOf = async (name: string, from: TestServer = server) =>
  Object.fromEntries(
    Array.from(
      await documentsOf(name, from),
      ([path, { status, revision }]: [string, Document]) => [path, `${status} ${revision}`],
    ),
  )

const NAMES = ['news', 'moved', 'emptied', 'vanishing', 'mixed']
await write('news/owls.md', '# Owls\n\nThe tawny owl hunts at dusk.')
await write('moved/a.txt', 'Herons stand in the shallows.')
await write('moved/b.txt', 'Grebes dive for fish.')
await write('emptied/only.txt', 'Swans sleep on the water.')
await write('vanishing/kept.txt', 'Coots quarrel over nests.')
await write('mixed/notes.txt', 'Rooks nest in colonies.')
await write('mixed/program.exe', 'MZ\u0090\u0000 a program')
await write('mixed/empty.txt', ' \n')
await write('mixed/large.txt', 'x'.repeat(20_001))
await write('mixed/broken.pdf', '%PDF-1.7 is no PDF')
await write('mixed/.hidden/secret.txt', 'Not for others.')

const server = await startServer({
  WATCH_FOLDERS: NAMES.map((name) => (name === 'news' ? `birds=${at(name)}/` : at(name))).join(
    ', ',
  ),
  FILE_LIMIT: '20000',
})

describe('A watched folder', () => {
  it('is taken in, and its new and changed files after it', async () => {
    await expect.poll(() => statesOf('news'), SOON).toEqual({ 'owls.md': 'ready 1' })
    const owls = (await documentsOf('news')).get('owls.md')
    expect(owls).toMatchObject({
      title: 'owls.md',
      metadata: { collection: 'birds', watched_folder: at('news') },
      file: { name: 'owls.md', mediaType: 'text/markdown' },
    })

    const tags = { metadata: { reviewed: true } }
    await server.request(`/documents/${owls?.id}`, { method: 'PATCH', body: tags })
    await write('news/owls.md', '# Owls\n\nThe barn owl screeches.')
    await write('news/2026/jays.txt', 'Jays bury acorns.')
    const both = { 'owls.md': 'ready 2', '2026/jays.txt': 'ready 1' }
    await expect.poll(() => statesOf('news'), SOON).toEqual(both)
    const [hit] = await search(server, 'barn owl')
    expect(hit).toMatchObject({
      documentId: owls?.id,
      metadata: { collection: 'birds', reviewed: true },
    })
    expect(await search(server, 'tawny')).toEqual([])
    const folder = await stateOf('news')
    expect(folder).toMatchObject({ collection: 'birds', state: 'following', files: 2, open: 0 })
    expect(folder.refused).toEqual([])
    expect(Date.parse(folder.lookedAt ?? '')).toBeGreaterThan(Date.now() - 60_000)
  })

  it('has no document of a file that is gone, and one of a moved file at its new place', async () => {
    await expect
      .poll(() => statesOf('moved'), SOON)
      .toEqual({ 'a.txt': 'ready 1', 'b.txt': 'ready 1' })
    const own = { text: 'Herons of somebody else.', metadata: { watched_folder: at('moved') } }
    const id = await server.ingest(own)
    await rm(at('moved/a.txt'))
    await mkdir(at('moved/c'))
    await rename(at('moved/b.txt'), at('moved/c/b.txt'))
    await expect
      .poll(() => statesOf('moved'), SOON)
      .toEqual({ 'c/b.txt': 'ready 1', undefined: 'ready 1' })
    expect((await search(server, 'herons')).map(({ documentId }) => documentId)).toEqual([id])
  })

  it('that is empty all at once keeps its documents, and says so', async () => {
    await expect.poll(() => statesOf('emptied'), SOON).toEqual({ 'only.txt': 'ready 1' })
    await rm(at('emptied/only.txt'))
    await expect.poll(async () => (await stateOf('emptied')).state, SOON).toBe('failed')
    expect((await stateOf('emptied')).problem).toContain('is empty')
    expect(await statesOf('emptied')).toEqual({ 'only.txt': 'ready 1' })
  })

  it('that is gone keeps its documents, and says so', async () => {
    await expect.poll(() => statesOf('vanishing'), SOON).toEqual({ 'kept.txt': 'ready 1' })
    await rename(at('vanishing'), at('elsewhere'))
    await expect.poll(async () => (await stateOf('vanishing')).state, SOON).toBe('failed')
    expect((await stateOf('vanishing')).problem).toBe(`${at('vanishing')} does not exist`)
    expect(await statesOf('vanishing')).toEqual({ 'kept.txt': 'ready 1' })
  })

  it('names each file that it refuses, and why', async () => {
    const taken = { 'notes.txt': 'ready 1', 'broken.pdf': 'failed 1' }
    await expect.poll(() => statesOf('mixed'), SOON).toEqual(taken)
    const { refused, ...folder } = await stateOf('mixed')
    expect(folder).toMatchObject({ state: 'following', files: 5, refusedCount: 4 })
    expect(refused.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
      { path: 'broken.pdf', reason: expect.stringContaining('damaged') },
      { path: 'empty.txt', reason: 'is empty' },
      { path: 'large.txt', reason: expect.stringContaining('larger than FILE_LIMIT') },
      { path: 'program.exe', reason: 'cannot be read: it is a Windows program' },
    ])
  })

  describe('gives its documents the access', () => {
    const yes = [200, 1]
    const no = [404, 0]

    /** Starts over the same data, each with other readers of the folder: what two people get of its document. */
    async function createFolder() {
      await write('staff/pay.txt', 'Wages rise in May.')
      const data = await temporaryDirectory()
      return async (readers: string, state: string) => {
        const running = await startServer({
          WATCH_FOLDERS: `staff=${at('staff')} ${readers}`,
          DATA_DIR: data,
        })
        const follows = async () => (await stateOf('staff', running)).state
        await expect.poll(follows, SOON).toBe('following')
        await expect.poll(() => statesOf('staff', running), SOON).toEqual({ 'pay.txt': state })
        const id = (await documentsOf('staff', running)).get('pay.txt')?.id
        const people = [{ name: 'ada', groups: ['hr'] }, { name: 'eve' }].map(async (person) => {
          const request = speakingFor(running, person)
          const hits = await search({ ...running, request }, 'wages')
          return [(await request(`/documents/${id}`)).status, hits.length]
        })
        const [ada, eve] = await Promise.all(people)
        const { access } = await stateOf('staff', running)
        await running.close()
        return { access, ada, eve }
      }
    }

    it('that it is set to have', async () => {
      const statusesWith = await createFolder()
      expect(await statusesWith('<group:hr|group:cn=it,dc=x>', 'ready 1')).toEqual({
        access: ['group:cn=it,dc=x', 'group:hr'],
        ada: yes,
        eve: no,
      })
    })

    it('that it is given later', onlyLong, async () => {
      const statusesWith = await createFolder()
      expect(await statusesWith('<group:hr>', 'ready 1')).toMatchObject({ ada: yes, eve: no })
      expect(await statusesWith('<public>', 'ready 1')).toMatchObject({ ada: yes, eve: yes })
      const closed = { access: [], ada: no, eve: no }
      expect(await statusesWith('<>', 'ready 1')).toEqual(closed)
      await write('staff/pay.txt', 'Wages rise in June.')
      expect(await statusesWith('<group:hr>', 'ready 2')).toMatchObject({ ada: yes, eve: no })
      const without = { access: undefined, ada: no, eve: no }
      expect(await statusesWith('', 'ready 2')).toEqual(without)
    })
  })

  it('needs the scope admin to be listed', async () => {
    const created = await server.request('/admin/keys', { body: { name: 'q', scopes: ['query'] } })
    const { secret } = ApiKeyCreated.parse(await created.json())
    const headers = { authorization: `Bearer ${secret}` }
    expect((await server.request('/admin/folders', { headers })).status).toBe(403)
  })
})

describe('A server that ends', () => {
  it('takes in afterwards what it has not, and sends nothing twice', onlyLong, async () => {
    const directory = await temporaryDirectory()
    const folder = join(base, 'many')
    await mkdir(folder)
    const names = Array.from({ length: 40 }, (_, n) => `${n}.txt`)
    for (const name of names) await writeFile(join(folder, name), `Bird number ${name}.`)
    const start = () => startServerProcess({ WATCH_FOLDERS: folder }, { directory })

    const first = await start()
    const taken = async () => (await documentsOf('many', first)).size
    await expect.poll(taken, { ...SOON, interval: 5 }).toBeGreaterThan(5)
    await first.crash()
    await rm(join(folder, '0.txt'))
    await writeFile(join(folder, '1.txt'), 'Another bird.')
    const second = await start()
    const rest = (await readdir(folder)).map((name) => [name, 'ready 1'])
    const states = async () => {
      const { '1.txt': changed, ...others } = await statesOf('many', second)
      return { changed: changed?.startsWith('ready'), others }
    }
    const { '1.txt': _, ...others } = Object.fromEntries(rest)
    await expect.poll(states, SOON).toEqual({ changed: true, others })
    expect((await search(second, 'another bird', 1))[0]?.metadata).toMatchObject({
      watched_path: '1.txt',
    })
    expect((await second.stop()).code).toBe(0)
  })
})
