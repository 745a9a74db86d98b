import { describe, expect, it } from 'vitest'
import { signatureOf } from '../../../src/services/extraction/extract-file.ts'
import { fixture } from '../../support/forms.ts'

const codeOf = (content: Buffer) => {
  try {
    return signatureOf(content)
  } catch (error) {
    return Object(error).code
  }
}

describe('The first bytes of a file tell', () => {
  it.each([
    ['owls.pdf', 'pdf'],
    ['password.pdf', 'pdf'],
    ['herons.docx', 'zip'],
    ['swifts.epub', 'zip'],
    ['tides.parquet', 'parquet'],
    ['pelicans.html', 'none'],
    ['german.utf-16.txt', 'none'],
    ['password.docx', 'encrypted_file'],
    ['password.xlsx', 'encrypted_file'],
  ])('%s: %s', (name, expected) => expect(codeOf(fixture(name))).toBe(expected))

  it('a PDF though its writer put something before it', () => {
    expect(codeOf(Buffer.from('\n\n%!PS-Adobe PDF\n%PDF-1.7'))).toBe('pdf')
  })

  it('nothing of an empty file', () => expect(codeOf(Buffer.alloc(0))).toBe('none'))
})

describe('What is known and not read is refused', () => {
  it.each([
    ['a Windows program', Buffer.from('MZ\x90'), /a Windows program/],
    ['a Linux program', Buffer.from('\x7fELF'), /a program/],
    ['a gzip archive', Buffer.from([0x1f, 0x8b, 8]), /a compressed archive/],
    ['a 7z archive', Buffer.from([0x37, 0x7a, 0xbc, 0xaf]), /a compressed archive/],
    ['an empty ZIP archive', Buffer.from('PK\x05\x06'), /an empty ZIP archive/],
    ['a WAV', Buffer.from('RIFF....WAVE'), /sound/],
    ['an MP3', Buffer.from('ID3\x04'), /sound/],
    ['a database', Buffer.from('SQLite format 3\0'), /a database/],
    ['rich text', Buffer.from('{\\rtf1\\ansi'), /save it as DOCX/],
    ['PostScript', Buffer.from('%!PS-Adobe-3.0'), /a PostScript program/],
  ])('with what it is: %s', (_case, content, message) => {
    expect(() => signatureOf(content)).toThrow(message)
    expect(codeOf(content)).toBe('unsupported_file')
  })

  it('with what to do, where it is of an old Office', () => {
    const old = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, 0, 0])
    expect(() => signatureOf(old)).toThrow(/save it as DOCX, XLSX or PPTX/)
    expect(codeOf(old)).toBe('unsupported_file')
  })
})
