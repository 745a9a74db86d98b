import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readReport, saveReport } from '../../../scripts/eval/report.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'

it('a report is read as it was saved', async () => {
  const file = join(await temporaryDirectory(), 'report.json')
  const asked = [{ id: '1', text: 'Q1', values: { mrr: 0.5 } }]
  const report = { answers: { measures: { mrr: 0.5, queries: 1 }, asked } }
  await saveReport(file, report)
  expect(await readReport(file)).toEqual(report)
})
