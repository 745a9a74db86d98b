import { expect, it } from 'vitest'
import { asImage, isDrawing } from '../../ui/chat/drawings.ts'
import { processorMs } from '../support/processor-time.ts'

const SVG = '<svg width="1"><rect/></svg>'

it.each([
  ['svg', SVG, true],
  ['XML', `<?xml version="1.0"?>\n<!-- drawn -->\n${SVG}\n`, true],
  ['html', SVG.toUpperCase(), true],
  ['python', SVG, false],
  ['html', `<p>${SVG}</p>`, false],
  ['svg', '<svg width="1">', false],
  ['svg', '<svgs></svg>', false],
  ['svg', `<svg>${' '.repeat(200_000)}</svg>`, false],
])('Of %s, %j is a drawing: %j', (language, code, expected) => {
  expect(isDrawing(language, code)).toBe(expected)
})

it('A drawing gets the namespace that an image needs, once', () => {
  const whole = '<svg xmlns="http://www.w3.org/2000/svg" width="1"><rect/></svg>'
  expect(asImage(SVG)).toBe(whole)
  expect(asImage(whole)).toBe(whole)
})

it.each([
  ['comments without an end', '<!--'.repeat(49_000)],
  ['comments', '<!---->'.repeat(28_000)],
  ['beginnings', '<svg '.repeat(39_000)],
])('Code of many %s is judged at once', (_name, beginning) => {
  const code = `${beginning}</svg>`
  const before = processorMs()
  isDrawing('svg', code)
  asImage(code)
  expect(processorMs() - before).toBeLessThan(500)
})
