import { describe, expect, it } from 'vitest'
import { extractParquet } from '../../src/formats/parquet.ts'
import { sourceFile, sourceFixture } from '../source-file.ts'

describe('A Parquet table', () => {
  it('shows its columns and first rows', async () => {
    const { text } = await extractParquet(sourceFixture('tides.parquet'))
    expect(text).toBe(
      [
        '# tides.parquet',
        '',
        'A Parquet table of 3 rows.',
        '',
        '## Columns',
        '',
        '- harbour: BYTE_ARRAY',
        '- height: DOUBLE',
        '',
        '## First rows',
        '',
        '- harbour: Dover; height: 6.7',
        '- harbour: Brest; height: 7.1',
        '- harbour: Cuxhaven; height: 3.3',
        '',
      ].join('\n'),
    )
  })

  it('shows only its columns if its rows cannot be read', async () => {
    const { bytes } = sourceFixture('tides.parquet')
    const broken = Buffer.from(bytes)
    broken.fill(0xff, 4, 60)
    const { text } = await extractParquet(sourceFile('broken.parquet', broken))
    expect(text).toContain('- harbour: BYTE_ARRAY')
    expect(text).not.toContain('Dover; height')
  })

  it.each([
    ['nothing but its mark', Buffer.from('PAR1')],
    ['its first half', sourceFixture('tides.parquet').bytes.subarray(0, 150)],
    ['a footer of impossible length', Buffer.from('PAR1\xff\xff\xff\x7fPAR1', 'latin1')],
  ])('is damaged where it is %s', async (_case, bytes) => {
    await expect(extractParquet(sourceFile('a.parquet', bytes))).rejects.toThrow()
  })
})
