import { expect, it } from 'vitest'
import { writtenText } from '../../src/text/written-text.ts'

const TEXT = 'PORT=3001\nNAME=Größe\n'

it.each<[string, Uint8Array]>([
  ['UTF-8', Buffer.from(TEXT)],
  ['UTF-8 with a mark', Buffer.from(`\ufeff${TEXT}`)],
  ['UTF-16', Buffer.from(`\ufeff${TEXT}`, 'utf16le')],
  ['UTF-16 with its bytes swapped', Buffer.from(`\ufeff${TEXT}`, 'utf16le').swap16()],
  ['UTF-16 without a mark', Buffer.from(TEXT, 'utf16le')],
  ['swapped UTF-16 without a mark', Buffer.from(TEXT, 'utf16le').swap16()],
  ['the code page of Windows', Buffer.from(TEXT, 'latin1')],
])('A file that an editor wrote in %s is read', (_case, bytes) => {
  expect(writtenText(bytes)).toBe(TEXT)
})

it('An empty file is an empty text', () => {
  expect(writtenText(new Uint8Array())).toBe('')
})
