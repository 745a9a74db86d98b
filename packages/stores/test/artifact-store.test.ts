import { describe, expect, it } from 'vitest'
import { describeArtifact } from '../src/artifact-store.ts'

const file = { name: 'x.txt', mediaType: 'text/plain', bytes: new Uint8Array(1) }

describe('The name of an artifact', () => {
  it.each([
    ['../../etc/passwd', '_.._etc_passwd'],
    ['C:\\windows\\system.ini', 'C__windows_system.ini'],
    ['.htaccess', 'htaccess'],
    ['a\u0000b\r\nc.txt', 'a_b__c.txt'],
    ['gpj.\u202eexe', 'gpj._exe'],
    ['', 'file'],
    [' .. ', 'file'],
    ['\ud800.txt', '_.txt'],
    ['Übersicht 2026 日本.csv', 'Übersicht 2026 日本.csv'],
    [`${'x'.repeat(300)}.png`, `${'x'.repeat(116)}.png`],
  ])('%j is kept as %j', (name, kept) => {
    expect(describeArtifact({ ...file, name }, 9).name).toBe(kept)
  })

  it.each(['text/html\r\nx: y', 'html', '', 'a/b; charset=x'])(
    'has the type of unknown bytes where its own is %j',
    (mediaType) => {
      const { mediaType: kept } = describeArtifact({ ...file, mediaType }, 9)
      expect(kept).toBe('application/octet-stream')
    },
  )
})
