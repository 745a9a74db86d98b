import { expect, it } from 'vitest'
import { isDiagram, isPage } from '../../ui/chat/preview-kinds.ts'

it.each([
  ['html', '<!doctype html><p>Hours</p>', true],
  ['HTM', '<h1>Hours</h1>', true],
  ['xhtml', '<p/>', true],
  ['html', 'No tag: 1 < 2', false],
  ['html', '', false],
  ['vue', '<p>Hours</p>', false],
  ['html', `<p>${' '.repeat(200_000)}`, false],
])('Of %s, %j is a page: %j', (language, code, expected) => {
  expect(isPage(language, code)).toBe(expected)
})

it.each([
  ['mermaid', 'graph TD\n A --> B', true],
  ['Mermaid', 'pie', true],
  ['mermaid', ' \n', false],
  ['text', 'graph TD', false],
  ['mermaid', 'A'.repeat(10_001), false],
])('Of %s, %j is a diagram: %j', (language, code, expected) => {
  expect(isDiagram(language, code)).toBe(expected)
})
