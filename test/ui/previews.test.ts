import { expect, it } from 'vitest'
import { isDiagram, isEndless, isPage } from '../../ui/chat/preview-kinds.ts'

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

const gantt = (task: string, days = 'excludes weekends') =>
  `gantt\n dateFormat YYYY-MM-DD\n ${days}\n Task :a, 2026-01-01, ${task}`

it.each([
  [gantt('9999999y'), true],
  [gantt('100000.5w'), true],
  [gantt('99999999999ms', 'Excludes 2026-01-02'), true],
  [gantt('99999d'), false],
  [gantt('2026-12-31'), false],
  [gantt('2026-01-01T100000'), false],
  // Nothing walks through its days.
  [gantt('9999999y', 'todayMarker off'), false],
  ['graph TD\n A[123456d] --> B[excludes]', false],
])('Mermaid would never end with %j: %j', (code, expected) => {
  expect(isEndless(code)).toBe(expected)
})
