import { describe, expect, it } from 'vitest'
import { formOf, mailAsMarkdown, withTables } from '../../ui/reader/text-form.ts'

const file = (mediaType: string) => ({ file: { name: 'x', mediaType, size: 1, sha256: '' } })

describe('The text of a document is shown', () => {
  it.each([
    ['message/rfc822', 'mail'],
    ['application/vnd.ms-outlook', 'mail'],
    ['text/csv', 'sheet'],
    ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'sheet'],
    ['application/vnd.ms-excel', 'sheet'],
    ['application/pdf', 'plain'],
    ['text/plain', 'plain'],
    ['text/html', 'markdown'],
    ['application/vnd.openxmlformats-officedocument.presentationml.presentation', 'markdown'],
  ])('by the type of its file: %s', (type, form) => {
    expect(formOf(file(type))).toBe(form)
  })

  it('with rows as a table, whose cells may be empty, marked, or hold what stands between others', () => {
    const text = `## Fees

- \uE000City: Paris; Fee: 4|5\uE001
- City: Farne; Inner; Visitors: 9; Fee: 2

The end`
    expect(withTables(text)).toBe(`## Fees


| City | Visitors | Fee |
| --- | --- | --- |
| \uE000Paris |  | 4\\|5\uE001 |
| Farne; Inner | 9 | 2 |


The end`)
  })

  it.each([
    ['a list without names', '- alder\n- oak: a tree'],
    ['no list', 'Time: 9:00; Place: here'],
    [
      'more columns than a page has room for',
      `- ${'n0'.padEnd(3)}: 1${Array.from({ length: 41 }, (_, i) => `; c${i}: 1`).join('')}`,
    ],
  ])('as it is where it is %s', (_case, text) => {
    expect(withTables(text)).toBe(text)
  })

  it('as a mail, with its lines, and no heading above a signature', () => {
    const text = '# Hours\n\nFrom: Ada <a@b.org>\nDate: 2026\n\nDear all,\nwe open.\n--\nAda'
    expect(mailAsMarkdown(text)).toBe(
      '# Hours\n\n**From:** Ada <a@b.org>  \n**Date:** 2026\n\nDear all,  \nwe open.  \n\\--  \nAda',
    )
  })
})
