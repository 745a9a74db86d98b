import { makeWith } from './make-with.ts'
import type { Sample } from './samples.ts'

/** Makes a report of a sample with ReportLab, which is written in Python. */
export function makeReport(sample: Sample, python: string): Promise<Uint8Array> {
  return makeWith([python, new URL('report.py', import.meta.url).pathname], {
    name: 'sample.json',
    source: JSON.stringify(sample),
  })
}
