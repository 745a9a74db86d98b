import { expect, it } from 'vitest'
import { extractXlsx } from '../../../../src/services/extraction/formats/xlsx.ts'
import { fixture } from '../../../support/forms.ts'
import { zipFile } from '../../../support/zip-file.ts'

it('A workbook is its sheets, a line per row, with dates as dates', async () => {
  const { text } = await extractXlsx(fixture('ringing.xlsx'))
  expect(text).toBe(
    [
      '## Ringing',
      '',
      '- Bird: Robin; Ringed: 2024-05-17; Weight: 16.4',
      '- Bird: Wren; Ringed: 2024-06-02; Weight: 9',
      '',
      '',
    ].join('\n'),
  )
})

it('A workbook that lacks its parts is none', async () => {
  const bytes = zipFile([{ name: 'xl/workbook.xml', content: '<workbook/>' }])
  await expect(extractXlsx(bytes).then(({ text }) => text || Promise.reject())).rejects.not.toBe('')
})
