import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { Document, DocumentCreated } from '@agent-server/schemas/document.ts'
import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { fixture, openUpload, sendFile } from '../support/forms.ts'
import { isLong, onlyLong } from '../support/long.ts'
import { pdfFile } from '../support/pdf-file.ts'
import { settledDocument, TEST_KEY, type TestServer } from '../support/server.ts'
import { NPM_START, type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const MEGABYTE = 1_000_000
const MAX_MORE = 100 * MEGABYTE
const LARGE = 199 * MEGABYTE
/** In UTF-8, of letters that take two bytes: 9.9 million characters. */
const MAX_TEXT = 17_600_000
const CYCLES = isLong ? 3 : 1

describe.skipIf(!existsSync('/proc/self/status'))('The memory of the server (needs /proc)', () => {
  const rows = (count: number) => '1234,Some Body,Berlin,a few words about them\n'.repeat(count)
  const paragraph = Buffer.from(
    `${'Сова охотится ночью в лесу и ест мышей. '.repeat(25)}\n\n`.repeat(500),
  )
  const noise = Uint8Array.from({ length: MEGABYTE }, (_, i) => (i * 7_919) >> 5)

  const files = [
    ['a file that is not read', 'big.bin', Buffer.from(noise), LARGE, 'failed'],
    ['as much text as a file may hold', 'big.txt', paragraph, MAX_TEXT, 'ready'],
    ['a table that becomes ready', 'big.csv', Buffer.from(rows(22_000)), LARGE, 'ready'],
  ] as const

  it.each(files)(
    'grows by less than 100 MB with a large file: %s',
    { ...onlyLong, ...verifies('files.memory') },
    async (_case, name, piece, size, status) => {
      // With the options of `npm start`, by which garbage is collected early, also where others use the processors.
      const server = await startServerProcess({}, { command: NPM_START })
      // So that what any work takes is not counted: caches, and room for what is young.
      const { id: ordinary } = DocumentCreated.parse(
        await (await sendFile(server, { name: 'ordinary.csv', bytes: rows(50_000) })).json(),
      )
      await settledDocument(server.request, ordinary)
      const before = memoryOf(server, 'VmRSS')
      const response = await sendLarge(server, name, piece, size)
      const { id } = DocumentCreated.parse(await response.json())
      expect(await settledDocument(server.request, id)).toMatchObject({ status })
      expect(memoryOf(server, 'VmHWM') - before).toBeLessThan(MAX_MORE)
    },
  )
})

describe('A server that is killed', () => {
  it('loses no acknowledged file, and keeps no partial one', {
    ...onlyLong,
    ...verifies('files.crash'),
  }, async () => {
    const directory = await temporaryDirectory()
    const acknowledged = new Map<string, Buffer>()
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      const server = await startServerProcess({}, { directory })
      const uploads = Array.from({ length: 3 }, () => openUpload(server))
      for (const bytes of filesOf(cycle)) {
        const response = await sendFile(server, { name: 'a file', bytes }, { path: '/documents' })
        acknowledged.set(DocumentCreated.parse(await response.json()).id, bytes)
      }
      await untilProcessing(server)
      // The server alone: what reads for it has to notice by itself.
      process.kill(server.pid, 'SIGKILL')
      await server.exited
      await Promise.allSettled(uploads.map(({ answer }) => answer))
    }

    const server = await startServerProcess({}, { directory })
    for (const [id, bytes] of acknowledged) {
      expect(await settledDocument(server.request, id)).toMatchObject({ status: 'ready' })
      const file = await server.request(`/documents/${id}/file`)
      expect(Buffer.from(await file.arrayBuffer()).equals(bytes)).toBe(true)
    }
    const listed = await server.request('/documents?limit=100')
    const { documents } = Object(await listed.json())
    expect(Document.array().parse(documents)).toHaveLength(acknowledged.size)
  })
})

/** Small ones, and one that takes a while to read. */
function filesOf(cycle: number): Buffer<ArrayBuffer>[] {
  const pages = Array.from({ length: 1_500 }, (_, i) => `Page ${i} of cycle ${cycle}`)
  return [pdfFile({ pages }), fixture('owls.pdf'), fixture('herons.docx')]
}

async function untilProcessing({ request }: Pick<TestServer, 'request'>): Promise<void> {
  for (;;) {
    const response = await request('/documents?status=processing')
    const { documents } = Object(await response.json())
    if (documents.length > 0) return
    await pause(2)
  }
}

/** In bytes; `VmHWM` is the most that there ever was. */
function memoryOf({ pid }: ServerProcess, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1_024
}

/** Sends `piece` again and again, without ever holding the whole in memory here either. */
function sendLarge(
  { url }: ServerProcess,
  name: string,
  piece: Buffer,
  size: number,
): Promise<Response> {
  const head = `--b\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\n`
  async function* body() {
    yield Buffer.from(head)
    for (let sent = 0; sent + piece.length <= size; sent += piece.length) yield piece
    yield Buffer.from('\r\n--b--\r\n')
  }
  return fetch(`${url}/documents?wait=60`, {
    method: 'POST',
    duplex: 'half',
    body: ReadableStream.from(body()),
    headers: {
      authorization: `Bearer ${TEST_KEY}`,
      'content-type': 'multipart/form-data; boundary=b',
    },
  })
}
