import { describe, expect, it } from 'vitest'
import { onlyLong } from '../../../test/support/long.ts'
import { type ZipEntry, zipFile } from '../../../test/support/zip-file.ts'
import { openZip } from '../src/zip-archive.ts'

const open = (...entries: ZipEntry[]) => openZip(zipFile(entries))
const zeros = (length: number) => Buffer.alloc(length)
const damaged = { code: 'damaged_file' }
const complex = { code: 'file_too_complex' }

describe('An archive', () => {
  it('gives its entries by name', async () => {
    const zip = await open(
      { name: 'a.txt', content: 'Eins' },
      { name: 'folder/b.txt', content: 'Zwei ä' },
      { name: 'folder/', content: '' },
    )
    expect(['a.txt', 'folder/b.txt', 'folder/'].map(zip.has)).toEqual([true, true, false])
    expect([zip.has('a.txt'), zip.has('folder/'), zip.has('c.txt')]).toEqual([true, false, false])
    expect(await zip.readText('folder/b.txt')).toBe('Zwei ä')
    expect(await zip.readText('a.txt')).toBe('Eins')
  })

  it.each([
    ['UTF-16', Buffer.from('\ufeff<?xml version="1.0" encoding="UTF-16"?><a>Möwe</a>', 'utf16le')],
    ['UTF-16 without a mark', Buffer.from('<?xml version="1.0"?><a>Möwe</a>', 'utf16le').swap16()],
    ['Latin-1', Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a>Möwe</a>', 'latin1')],
    ['UTF-8 with a mark', Buffer.from('\ufeff<a>Möwe</a>')],
  ])('decodes a part in %s', async (_encoding, content) => {
    const zip = await open({ name: 'a.xml', content })
    expect(await zip.readText('a.xml')).toMatch(/^<[\s\S]*<?a>Möwe<\/a>$/)
  })

  it('may not declare entities in any encoding', async () => {
    const content = Buffer.from('\ufeff<!DOCTYPE a [<!ENTITY b "c">]><a/>', 'utf16le')
    const zip = await open({ name: 'a.xml', content })
    await expect(zip.readText('a.xml')).rejects.toMatchObject(complex)
  })

  it('may hold much that is packed well, up to a point', async () => {
    const zip = await open({ name: 'a', content: zeros(20_000_000) })
    expect(await zip.readText('a')).toHaveLength(20_000_000)
  })

  it.each(['\0', 'PK\x05', '\r\n--boundary--\r\n'])('may have %j behind it', async (tail) => {
    const bytes = zipFile([{ name: 'a', content: 'x' }])
    const zip = await openZip(Buffer.concat([bytes, Buffer.from(tail)]))
    expect(await zip.readText('a')).toBe('x')
  })

  it('is verified where all is what it claims to be', async () => {
    const zip = await open({ name: 'a.xml', content: '<a/>' }, { name: 'b', content: zeros(9) })
    expect(await zip.verify()).toBeUndefined()
  })

  it('tolerates missing parts', async () => {
    const zip = await open({ name: 'a', content: 'x' })
    await expect(zip.readText('b')).rejects.toMatchObject({
      ...damaged,
      message: 'The file is damaged: it lacks b',
    })
  })
})

describe('An archive is refused', () => {
  it('before anything is unpacked, where it unpacks to far more than it is', async () => {
    await expect(open({ name: 'a', content: zeros(150_000_000) })).rejects.toMatchObject(complex)
  })

  it('where many entries do so together', onlyLong, async () => {
    const entries = Array.from({ length: 6 }, (_, i) => ({
      name: `a${i}`,
      content: zeros(20_000_000),
    }))
    await expect(open(...entries)).rejects.toMatchObject(complex)
  })

  it('where it has entries without end', async () => {
    const entries = Array.from({ length: 20_001 }, (_, i) => ({ name: `a${i}`, content: '' }))
    await expect(open(...entries)).rejects.toMatchObject(complex)
  })

  it('where it is cut off', async () => {
    const bytes = zipFile([{ name: 'a', content: 'x'.repeat(1_000) }])
    await expect(openZip(bytes.subarray(0, 60))).rejects.toMatchObject(damaged)
    await expect(openZip(bytes.subarray(0, -10))).rejects.toMatchObject(damaged)
  })

  it('where an entry has a password', async () => {
    const bytes = zipFile([{ name: 'a', content: 'x' }])
    const entry = bytes.indexOf('PK\x01\x02')
    bytes.writeUInt16LE(1, entry + 8)
    await expect(openZip(bytes)).rejects.toMatchObject({ code: 'encrypted_file' })
  })
})

describe('An entry is not trusted', () => {
  it.each([
    ['less', 10],
    ['more', 5_000],
  ])('that claims to unpack to %s than it does', async (_how, claimedSize) => {
    const zip = await open({ name: 'a', content: 'x'.repeat(1_000), claimedSize })
    await expect(zip.readText('a')).rejects.toMatchObject(damaged)
    await expect(zip.verify()).rejects.toMatchObject(damaged)
  })

  it('whose bytes are broken', async () => {
    const bytes = zipFile([{ name: 'a', content: 'some text that is packed' }])
    bytes.fill(0xff, 31, 40)
    const zip = await openZip(bytes)
    await expect(zip.readText('a')).rejects.toMatchObject(damaged)
  })

  it('that declares entities, wherever it is', async () => {
    const laughs = '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
    const zip = await open({ name: 'a.xml', content: '<a/>' }, { name: 'b.xml', content: laughs })
    await expect(zip.verify()).rejects.toMatchObject(complex)
  })
})
