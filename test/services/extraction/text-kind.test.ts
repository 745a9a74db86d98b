import { describe, expect, it } from 'vitest'
import { textKindOf } from '../../../src/services/extraction/extract-file.ts'

const PAGE = '<!DOCTYPE html>\n<html><body>Text</body></html>'
const MAIL =
  'From: a@example.org\nTo: b@example.org\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n\nHello.'

describe('What a text holds decides', () => {
  it.each([
    ['a page', PAGE, 'a.txt', 'html'],
    ['a page without a doctype', '\n<html lang="en"><body>x', 'a', 'html'],
    ['a page behind a comment', '<!-- saved -->\n<!doctype html><p>x', 'a', 'html'],
    ['a page behind an XML line', '<?xml version="1.0"?>\n<html>x', 'a', 'html'],
    ['a page that is said to be a table', PAGE, 'export.xls.csv', 'html'],
    ['a mail', MAIL, 'a.txt', 'mail'],
    ['a mail from a server', `Received: by x\nFrom: a@example.org\n\nHello`, 'a', 'mail'],
    ['a record', '{"a": [1, 2]}', 'a', 'json'],
    ['a list of records', ' [{"a": 1}]', 'a.txt', 'json'],
  ])('%s', (_case, text, name, kind) => expect(textKindOf(text, name)).toBe(kind))
})

describe('The name decides', () => {
  it.each([
    ['a program that writes a page', PAGE, 'page.php', 'code'],
    ['a program that begins with a list', '[1, 2].map(print)', 'a.js', 'code'],
    ['notes on a page', `${PAGE}\n# Notes`, 'notes.md', 'markdown'],
    ['a table', 'a,b\n1,2', 'a.csv', 'csv'],
    ['records, also where they are cut off', '{"a": [1, ', 'a.json', 'json'],
    ['lines of records', '{"a": 1}\n{"a": 2}', 'a.jsonl', 'json'],
  ])('where the content does not: %s', (_case, text, name, kind) => {
    expect(textKindOf(text, name)).toBe(kind)
  })
})

describe('It is plain text', () => {
  it.each([
    ['whatever else it could be', 'Just some words.', 'a.txt'],
    ['with a colon in its first line', 'Note: this is no mail.\n\nFrom: here', 'a.txt'],
    ['that begins like a record', '{curly} words in a text', 'a.txt'],
    ['that is called a PDF', 'Just some words.', 'a.pdf'],
    ['that is called a page', 'Just some words.', 'a.html'],
    ['that is called a mail', 'Just some words.', 'a.eml'],
    ['that speaks of <html> later on', 'The element <html> is the root.', 'a.txt'],
    ['that is empty', '', 'a.txt'],
  ])('%s', (_case, text, name) => expect(textKindOf(text, name)).toBe('text'))
})
