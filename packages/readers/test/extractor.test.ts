import { JobCrashed } from '@agent-server/lib/processes/job.ts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fixture } from '../../../test/support/forms.ts'
import { isLong, long, onlyLong } from '../../../test/support/long.ts'
import { children } from '../../../test/support/peak-megabytes.ts'
import { scan } from '../../../test/support/scan.ts'
import { zipFile } from '../../../test/support/zip-file.ts'
import type { ReadText } from '../src/extracted.ts'
import { createExtractor, type ExtractorOptions } from '../src/extractor.ts'

const never = () => new AbortController().signal

function openExtractor(options: Partial<ExtractorOptions> = {}) {
  const warnings: object[] = []
  const log = { warn: (fields: object) => void warnings.push(fields) }
  const extractor = createExtractor({ processes: 1, deadlineMs: 25_000, log, ...options })
  onTestFinished(extractor.close)
  const extract = async (
    name: string,
    content: Uint8Array | string,
    signal = never(),
    mediaType = 'text/plain',
  ) => {
    const bytes = Buffer.from(content)
    const file = { name, mediaType, size: bytes.length }
    return onlyText(
      await extractor.extract(
        file,
        { owner: undefined, open: async () => inPieces(bytes) },
        signal,
      ),
    )
  }
  return { extractor, extract, warnings }
}

async function onlyText({ pieces, pageStarts, close }: ReadText) {
  const text = (await Array.fromAsync(pieces)).join('')
  close()
  return { text, ...(pageStarts && { pageStarts }) }
}

async function* inPieces(bytes: Buffer, length = 1_000_000) {
  for (let start = 0; start < bytes.length; start += length) {
    yield bytes.subarray(start, start + length)
  }
}

/** Too much for the memory that a process has in the end, or for less of it, which takes less time. */
const SMALL = isLong ? {} : { limits: { heapMegabytes: 48, residentMegabytes: 400 } }
const memoryHog = () => `[${'{},'.repeat(isLong ? 13_000_000 : 1_000_000)}{}]`

describe('A file is read in a process of its own', () => {
  it('piece by piece, with its pages', async () => {
    const { extract, warnings } = openExtractor()
    const { text, pageStarts } = await extract('owls.pdf', fixture('owls.pdf'))
    expect(text).toMatch(/^## The snowy owl/)
    expect(pageStarts).toHaveLength(3)
    expect(text.slice(pageStarts?.[1])).toMatch(/^## Feeding habits/)
    expect(warnings).toEqual([])
  })

  it('also a picture of 39 million pixels in colours', {
    ...onlyLong,
    timeout: 240_000,
  }, async () => {
    const { extract } = openExtractor({
      ocr: { kind: 'tesseract', languages: ['eng'] },
      deadlineMs: 200_000,
    })
    const page = scan(['The heron fishes in shallow water', 'and waits for its prey.'], {
      zoom: 10.1,
    })
    expect(page.width * page.height).toBeGreaterThan(39_000_000)
    const { text } = await extract('heron.png', page.asPng(), never(), 'image/png')
    expect(text).toMatch(/heron fishes in shallow water/)
  })

  it('that reads the next one, too, also after one that it refused', async () => {
    const { extract, warnings } = openExtractor()
    await expect(extract('a.exe', 'MZ')).rejects.toMatchObject({ code: 'unsupported_file' })
    expect(await extract('a.txt', 'One.')).toEqual({ text: 'One.' })
    expect(await extract('b.txt', 'Two.')).toEqual({ text: 'Two.' })
    expect(warnings).toEqual([])
  })

  it('whose source is gone before it was opened, which fails that file alone', async () => {
    const { extractor, extract } = openExtractor()
    const gone = { owner: undefined, open: () => Promise.reject(new Error('Gone')) }
    const file = { name: 'a.txt', mediaType: 'text/plain', size: 1 }
    // Suites before this one share the process, and may have left some of their own.
    const others = new Set(await children())
    const left = async () => (await children()).filter((pid) => !others.has(pid))
    await expect(extractor.extract(file, gone, never())).rejects.toThrow('Gone')
    // A rejection that nobody handles would end the server, and fails this run.
    await expect.poll(left).toEqual([])
    expect(await extract('b.txt', 'Two.')).toEqual({ text: 'Two.' })
  })

  it('in turn, where there are more than processes', onlyLong, async () => {
    const { extract } = openExtractor({ processes: 2 })
    const texts = Array.from({ length: 7 }, (_, i) => `Text ${i}.`)
    const all = await Promise.all(texts.map((text, i) => extract(`${i}.txt`, text)))
    expect(all.map(({ text }) => text)).toEqual(texts)
  })

  it('with all of its text, however long', onlyLong, async () => {
    const { extract } = openExtractor()
    const text = 'Eine Zeile über Eulen.\n'.repeat(400_000)
    const extracted = await extract('long.txt', text)
    expect(extracted.text.length).toBe(text.length)
    expect(extracted.text === text).toBe(true)
  })

  it('of which a long one waits in the process until it is taken or closed', async () => {
    const { extractor } = openExtractor({ processes: 1 })
    const read = (content: string) => {
      const bytes = Buffer.from(content)
      const file = { name: 'a.txt', mediaType: 'text/plain', size: bytes.length }
      return extractor.extract(
        file,
        { owner: undefined, open: async () => inPieces(bytes) },
        never(),
      )
    }
    const long = await read('Owls hunt at night.\n'.repeat(50_000))
    expect(long.length).toBe(1_000_000)
    const pieces = (async function* () {
      yield* long.pieces
    })()
    expect((await pieces.next()).value).toMatch(/^(?:Owls hunt at night\.\n){6000,7000}$/)
    // Another file is read in the meantime, in a process of its own.
    expect(await onlyText(await read('Short.'))).toEqual({ text: 'Short.' })
    expect((await pieces.next()).value).toMatch(/^Owls/)
    long.close()
    await expect(pieces.next()).rejects.toBeInstanceOf(JobCrashed)
  })
})

it('What a parser threw at a damaged file is in the log', async () => {
  const { extract, warnings } = openExtractor()
  const docx = zipFile([{ name: 'word/document.xml', content: '<w' }])
  await expect(extract('a.docx', docx)).rejects.toMatchObject({ code: 'damaged_file' })
  expect(warnings).toMatchObject([
    { code: 'damaged_file', size: docx.length, cause: expect.stringContaining('at ') },
  ])
})

describe('A process that a file is too much for is replaced', () => {
  it('when it takes too much memory', long, async () => {
    const { extract, warnings } = openExtractor(SMALL)
    await expect(extract('a.json', memoryHog())).rejects.toMatchObject({
      code: 'file_too_complex',
      message: expect.stringMatching(/memory/),
    })
    expect(await extract('a.txt', 'The next one.')).toEqual({ text: 'The next one.' })
    const cause = {
      message: expect.stringMatching(/out of memory|allocation failed|It held \d+ bytes/i),
    }
    expect(warnings).toMatchObject([{ err: { name: 'JobExhausted', cause } }])
  })

  it('when it takes too long, and the file says so', async () => {
    const { extract } = openExtractor({ deadlineMs: 1 })
    await expect(extract('a.txt', 'Some text.')).rejects.toMatchObject({
      code: 'extraction_timeout',
    })
  })

  it(
    'when it takes too much processor time, whoever else needs the processor',
    onlyLong,
    async () => {
      const { extract } = openExtractor({ processorMs: 200 })
      const document = `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${'<w:p/>'.repeat(400_000)}</w:body></w:document>`
      const slow = zipFile([{ name: 'word/document.xml', content: document }])
      await expect(extract('a.docx', slow)).rejects.toMatchObject({
        code: 'file_too_complex',
        message: expect.stringMatching(/processor time/),
      })
      expect(await extract('b.txt', 'The next one.')).toEqual({ text: 'The next one.' })
    },
  )

  it('when the bytes of the file cannot be had in time', onlyLong, async () => {
    const { extractor, extract } = openExtractor({ deadlineMs: 2_000 })
    const open = () => new Promise<never>(() => undefined)
    const file = { name: 'a.txt', mediaType: 'text/plain', size: 1 }
    await expect(
      extractor.extract(file, { owner: undefined, open }, never()),
    ).rejects.toMatchObject({
      code: 'extraction_timeout',
    })
    expect(await extract('b.txt', 'The next one.')).toEqual({ text: 'The next one.' })
  })

  it('when nobody wants the text any more', onlyLong, async () => {
    const { extract } = openExtractor()
    const leaving = new AbortController()
    const abandoned = extract('a.json', memoryHog(), leaving.signal)
    leaving.abort(new Error('shutting down'))
    await expect(abandoned).rejects.toThrow('shutting down')
    expect(await extract('a.txt', 'The next one.')).toEqual({ text: 'The next one.' })
  })

  it('when the bytes of a file break off', async () => {
    const { extractor, extract } = openExtractor()
    const broken = async function* () {
      yield Buffer.from('Half a ')
      throw new Error('the file was deleted')
    }
    const file = { name: 'a.txt', mediaType: 'text/plain', size: 99 }
    await expect(
      extractor.extract(file, { owner: undefined, open: async () => broken() }, never()),
    ).rejects.toThrow('deleted')
    expect(await extract('a.txt', 'Whole.')).toEqual({ text: 'Whole.' })
  })
})

it.runIf(process.platform === 'linux')(
  'A file that a kept process does not survive is read once more, in a fresh one (needs Linux)',
  async () => {
    const { extractor, extract, warnings } = openExtractor()
    await extract('a.txt', 'The first one.')
    const [reader = ''] = (await children()).slice(-1)
    let opened = 0
    const open = async () => {
      opened += 1
      if (opened === 1) process.kill(Number(reader), 'SIGSEGV')
      return inPieces(Buffer.from('The next one.'))
    }
    const file = { name: 'b.txt', mediaType: 'text/plain', size: 13 }
    expect(
      await onlyText(await extractor.extract(file, { owner: undefined, open }, never())),
    ).toEqual({
      text: 'The next one.',
    })
    expect(opened).toBe(2)
    expect(warnings).toMatchObject([{ err: { name: 'JobCrashed', message: 'ended with SIGSEGV' } }])
  },
)

it('Closing ends what is under way', async () => {
  const { extractor, extract } = openExtractor()
  const reading = extract('a.json', memoryHog())
  reading.catch(() => undefined)
  extractor.close()
  await expect(reading).rejects.toThrow('The server stops')
})
