import { describe, expect, it } from 'vitest'
import { safeFileName } from '../../../src/services/tools/artifacts.ts'
import { renderRows } from '../../../src/services/tools/table-tools.ts'

describe('rows', () => {
  const columns = [
    { name: 'a', type: 'VARCHAR' },
    { name: 'b,c', type: 'BIGINT' },
  ]

  it.each([
    [[], 'a,"b,c"'],
    [[['x', 1]], 'a,"b,c"\nx,1'],
    [[[null, true]], 'a,"b,c"\n,true'],
    [[['say "hi"', 0]], 'a,"b,c"\n"say ""hi""",0'],
    [[['two\nlines', 0]], 'a,"b,c"\n"two\nlines",0'],
  ])('%j are CSV', (rows, text) => expect(renderRows({ columns, rows })).toBe(text))
})

describe('the name of a file', () => {
  it.each([
    ['Visits 2026', 'Visits-2026'],
    ['../../etc/passwd', 'etc-passwd'],
    ['売上 – März', '売上-März'],
    ['!!!', 'file'],
    ['x'.repeat(100), 'x'.repeat(60)],
  ])('%j is %s', (words, name) => expect(safeFileName(words)).toBe(name))
})
