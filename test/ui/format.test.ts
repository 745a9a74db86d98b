import { describe, expect, it } from 'vitest'
import {
  asSentence,
  counted,
  formatBytes,
  formatDay,
  formatSeconds,
  formatTime,
  roughly,
} from '../../ui/format.ts'

it.each([
  [0, '0 documents'],
  [1, '1 document'],
  [12_345, '12,345 documents'],
])('%i is counted as %s', (count, words) => {
  expect(counted(count, 'document')).toBe(words)
})

it.each([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [1_000, '1.0 kB'],
  [9_949, '9.9 kB'],
  [25_000_000, '25 MB'],
  [3_000_000_000, '3.0 GB'],
  [5_000_000_000_000, '5000 GB'],
])('%i bytes are %s', (bytes, words) => {
  expect(formatBytes(bytes)).toBe(words)
})

it.each([
  [1, 'about 1 second'],
  [89, 'about 89 seconds'],
  [90, 'about 2 minutes'],
  [1_080, 'about 18 minutes'],
  [5_400, 'about 2 hours'],
])('A wait of %i seconds takes %s', (seconds, words) => {
  expect(roughly(seconds)).toBe(words)
})

it.each([
  [12.4, '12 ms'],
  [999, '999 ms'],
  [1_250, '1.3 s'],
])('%d ms took %s', (milliseconds, words) => {
  expect(formatSeconds(milliseconds)).toBe(words)
})

it.each([
  ['', ''],
  ['The disk is full', 'The disk is full.'],
  ['Is it full?', 'Is it full?'],
  ['Done.', 'Done.'],
])('%j ends as a sentence', (text, sentence) => {
  expect(asSentence(text)).toBe(sentence)
})

it('A day is the same wherever it is read', () => {
  expect(formatDay('2026-12-11')).toBe('December 11, 2026')
})

describe('A moment', () => {
  it('of today is told without the day', () => {
    expect(formatTime(new Date().toISOString())).toMatch(/^\d\d:\d\d:\d\d$/)
  })

  it('of another day is told with it', () => {
    expect(formatTime('2020-02-03T12:00:00Z')).toMatch(/^Feb \d, \d\d:\d\d:\d\d$/)
  })
})
