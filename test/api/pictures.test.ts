import { hash, randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exists } from '@agent-server/lib/files.ts'
import { Document, DocumentCreated } from '@agent-server/schemas/document.ts'
import { PDFDocument } from '@cantoo/pdf-lib'
import { describe, expect, it } from 'vitest'
import { sendFile } from '../support/forms.ts'
import { onlyLong } from '../support/long.ts'
import { ppOcrInstalled } from '../support/pp-ocr.ts'
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

  it(
    'that cannot be read with confidence is left out of its document, which says so',
    onlyLong,
    async () => {
      const server = await startServer()
      const pdf = await PDFDocument.create()
      pdf.addPage().drawText('Storks nest on roofs.')
      const torn = scan(['Herons stand in shallow water'], { height: 200, isTorn: true }).asPng()
      pdf.addPage([620, 200]).drawImage(await pdf.embedPng(torn), { width: 620, height: 200 })
      const file = { name: 'birds.pdf', bytes: await pdf.save() }
      const sent = await sendFile(server, file, { path: '/documents?wait=60' })
      const { id } = DocumentCreated.parse(await sent.json())
      const document = Document.parse(await (await server.request(`/documents/${id}`)).json())
      expect(document).toEqual({
        ...document,
        status: 'ready',
        file: {
          name: 'birds.pdf',
          mediaType: 'application/pdf',
          size: file.bytes.length,
          sha256: hash('sha256', file.bytes),
        },
        warnings: [
          {
            code: 'unreadable_pictures',
            message: 'Could not be read, and was left out: page 2',
          },
        ],
      })
      expect(document).not.toHaveProperty('page')
      const text = await (await server.request(`/documents/${id}/text`)).text()
      expect(text.trim()).toBe('Storks nest on roofs.')
    },
  )

  it('is refused with its reason where recognition is off', async () => {
    const server = await startServer({ OCR: 'off' })
    const sent = await sendFile(server, picture)
    expect(await sent.json()).toMatchObject({
      status: 'failed',
      error: { code: 'unsupported_file', message: expect.stringContaining('OCR is disabled') },
    })
  })

  it.skipIf(ppOcrInstalled)(
    'is not read with a package that is missing, which the start says (needs it to be missing)',
    async () => {
      await expect(startServer({ OCR: 'pp-ocr' })).rejects.toThrow(
        'OCR=pp-ocr requires the package agent-server-pp-ocr',
      )
    },
  )

  it.skipIf(!ppOcrInstalled)(
    'is found by what PP-OCR reads in it (needs its package)',
    async () => {
      const server = await startServer({ OCR: 'pp-ocr' })
      const sent = await sendFile(server, picture, { path: '/documents?wait=60' })
      expect(await sent.json()).toMatchObject({ status: 'ready' })
      const answer = await server.request('/query', { body: { query: 'when is the pool closed?' } })
      expect(await answer.json()).toMatchObject({
        hits: [{ text: expect.stringContaining('closed on Tuesdays') }],
      })
    },
  )

  it('is read in no language whose package is missing, which the start says', async () => {
    const directory = join(tmpdir(), `agent-server-${randomUUID()}`)
    await expect(startServer({ OCR_LANGUAGES: 'eng+tlh', DATA_DIR: directory })).rejects.toThrow(
      'OCR_LANGUAGES needs a package: npm install @tesseract.js-data/tlh',
    )
    expect(await exists(directory)).toBe(false)
  })
})
