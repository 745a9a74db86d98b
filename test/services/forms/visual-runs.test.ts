import { describe, expect, it } from 'vitest'
import { visualRuns } from '../../../src/services/forms/pdf-layout.ts'

describe('A line in pieces of one direction', () => {
  it.each([
    ['', ['']],
    ['from left to right', ['from left to right']],
    ['北京 (ok)', ['北京 (ok)']],
    ['שלום', ['שלום']],
    ['to שלום עולם!', ['to ', 'שלום עולם', '!']],
    ['שלום 12 עולם', [' עולם', '12', 'שלום ']],
    ['א (1) ב', ['( ב', '1', 'א )']],
    ['א (ב)', ['א )ב(']],
    ['אב 😀 ok', ['ok', 'אב 😀 ']],
    ['کیلو ۱۲۳', ['۳۲۱', 'کیلو ']],
  ])('%j', (line, runs) => {
    const found = visualRuns(line)
    expect(found.join('')).toHaveLength(line.length)
    expect(found.map((run) => run.trim()).filter(Boolean)).toEqual(
      runs.map((run) => run.trim()).filter(Boolean),
    )
  })
})
