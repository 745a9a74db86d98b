import { describe, expect, it } from 'vitest'
import { announcedClosing, closingNotice, dayIn } from '../src/model-closings.ts'

const OPENAI = 'https://api.openai.com/v1'

describe('What providers have announced', () => {
  it.each([
    ['gpt-5-mini', OPENAI, '2026-12-11'],
    ['gpt-5-mini-2025-08-07', OPENAI, '2026-12-11'],
    ['gpt-4o', OPENAI, '2027-01-14'],
    ['gpt-4o-2024-05-13', OPENAI, '2026-10-23'],
    ['ft:gpt-4o-mini-2024-07-18:acme::9xYz', OPENAI, '2027-01-14'],
    ['gpt-4o', 'https://eu.api.openai.com/v1', '2027-01-14'],
    [
      'models/gemini-2.5-flash',
      'https://generativelanguage.googleapis.com/v1beta/openai',
      '2026-12-01',
    ],
    ['claude-opus-4-1-20250805', 'https://api.anthropic.com/v1', '2026-08-05'],
  ])('is known of %s', (model, baseUrl, day) => {
    expect(announcedClosing(model, baseUrl)).toBe(day)
  })

  it.each([
    ['gpt-6.1-terra', OPENAI],
    ['gpt-5.6-sol', OPENAI],
    // Its dates are others.
    ['gpt-4o', 'https://acme.openai.azure.com/openai/v1'],
    ['gpt-4o', 'https://api.openai.com.example.org/v1'],
    ['gpt-5-mini', 'http://127.0.0.1:11434/v1'],
  ])('is nothing of %s at %s', (model, baseUrl) => {
    expect(announcedClosing(model, baseUrl)).toBeUndefined()
  })
})

it.each([
  ['2026-12-11', '2026-12-11'],
  ['2026-12-11T12:00:00Z', '2026-12-11'],
  ['2026-12-11T23:30:00-05:00', '2026-12-12'],
  [1_799_884_800, '2027-01-14'],
  ['1799884800', '2027-01-14'],
])('reads %j as a day', (value, day) => {
  expect(dayIn(value)).toBe(day)
})

it.each([
  null,
  undefined,
  '',
  'soon',
  '2026',
  '11.12.2026',
  '2026-13-45',
  0,
  -1,
  1.8e12,
  NaN,
  {},
  [],
])('reads no day in %j', (value) => {
  expect(dayIn(value)).toBeUndefined()
})

it.each([
  ['2026-11-01T00:00:00Z', undefined],
  ['2026-11-15T08:00:00Z', 'closes on 14 January 2027 (in 60 days)'],
  ['2027-01-13T08:00:00Z', 'closes on 14 January 2027 (tomorrow)'],
  ['2027-01-14T08:00:00Z', 'closes on 14 January 2027'],
  ['2027-01-15T08:00:00Z', 'was closed on 14 January 2027'],
])('says of a closing on 14 January, on %s: %s', (now, words) => {
  const closing = { model: 'gpt-4o', setting: 'CHAT_MODEL', closesOn: '2027-01-14' }
  const notice = words && `The model gpt-4o ${words}: set CHAT_MODEL to another`
  expect(closingNotice(closing, Date.parse(now))).toBe(notice)
})
