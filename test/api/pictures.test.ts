import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exists } from '../../src/lib/files.ts'
import { sendFile } from '../support/forms.ts'
import { scan } from '../support/scan.ts'
import { startServer } from '../support/server.ts'

const picture = {
  name: 'notice.png',
  bytes: Uint8Array.from(scan(['The pool is closed on Tuesdays.']).asPng()),
}

describe('A picture', () => {
  it('is found by what is written in it', async () => {
    const server = await startServer()
    const sent = await sendFile(server, picture, { path: '/documents?wait=60' })
    expect(await sent.json()).toMatchObject({ status: 'ready' })
    const answer = await server.request('/query', { body: { query: 'when is the pool closed?' } })
    expect(await answer.json()).toMatchObject({
      hits: [{ text: expect.stringContaining('closed on Tuesdays') }],
    })
  })

  it('is refused with its reason where recognition is off', async () => {
    const server = await startServer({ OCR: 'off' })
    const sent = await sendFile(server, picture)
    expect(await sent.json()).toMatchObject({
      status: 'failed',
      error: { code: 'unsupported_file', message: expect.stringContaining('OCR is off') },
    })
  })

  it('is read in no language whose package is missing, which the start says', async () => {
    const directory = join(tmpdir(), `agent-server-${randomUUID()}`)
    await expect(startServer({ OCR_LANGUAGES: 'eng+tlh', DATA_DIR: directory })).rejects.toThrow(
      'OCR_LANGUAGES needs a package: npm install @tesseract.js-data/tlh',
    )
    expect(await exists(directory)).toBe(false)
  })
})
