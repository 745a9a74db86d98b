import { describe, expect, it } from 'vitest'
import {
  extensionOf,
  kindByName,
  mediaTypeOfUpload,
} from '../../../src/services/extraction/extract-file.ts'

describe('The name of a file says', () => {
  it.each([
    ['page.html', 'html'],
    ['page.HTM', 'html'],
    ['README.md', 'markdown'],
    ['guide.rst', 'markdown'],
    ['table.csv', 'csv'],
    ['table.tsv', 'csv'],
    ['record.json', 'json'],
    ['records.ndjson', 'json'],
    ['letter.eml', 'mail'],
    ['main.ts', 'code'],
    ['main.py', 'code'],
    ['feed.xml', 'code'],
    ['compose.yaml', 'code'],
    ['Makefile', 'code'],
    ['archive.tar.rs', 'code'],
  ])('%s is %s', (name, kind) => expect(kindByName(name)).toBe(kind))

  it.each(['notes.txt', 'notes', 'a.unknown', '', '.'])('nothing for certain: %s', (name) => {
    expect(kindByName(name)).toBeUndefined()
  })
})

it.each([
  ['a.b.PDF', 'pdf'],
  ['Makefile', 'makefile'],
  ['.gitignore', 'gitignore'],
  ['a.', ''],
])('The extension of %s is %s', (name, extension) => expect(extensionOf(name)).toBe(extension))

describe('The media type of a file', () => {
  it.each([
    ['a.bin', 'text/markdown', 'text/markdown'],
    ['a.txt', 'Text/Plain; charset=utf-8', 'text/plain'],
    ['a.pdf', 'application/octet-stream', 'application/pdf'],
    ['a.pdf', undefined, 'application/pdf'],
    ['a.epub', '', 'application/epub+zip'],
    ['a.py', undefined, 'text/plain'],
    ['a.unknown', undefined, 'application/octet-stream'],
    ['a.csv', 'nonsense', 'text/csv'],
    ['a.csv', 'text/html\r\nx-evil: 1', 'text/csv'],
    ['a.csv', `a/${'b'.repeat(200)}`, 'text/csv'],
  ])('%s that is said to be %s is %s', (name, declared, mediaType) => {
    expect(mediaTypeOfUpload(name, declared)).toBe(mediaType)
  })
})
