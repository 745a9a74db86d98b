import { describe, expect, it } from 'vitest'
import { createSpacing } from '../../../src/services/agent/model-turn.ts'

const TOOLS = Symbol('tools were called')

/** The texts as they are shown, with tools called in between. */
function said(...parts: (string | typeof TOOLS)[]): string[] {
  const spacing = createSpacing()
  return parts.flatMap((part) => {
    if (part !== TOOLS) return [spacing.join(part)]
    spacing.part()
    return []
  })
}

describe('What a model says around its tools', () => {
  it('is parted by a blank line', () => {
    expect(said('Look', 'ing.', TOOLS, 'Do', 'ne.')).toEqual(['Look', 'ing.', '\n\nDo', 'ne.'])
  })

  it.each([
    ['after a line that has ended', ['Looking.\n', TOOLS, 'Done.'] as const],
    ['where nothing was said before', [TOOLS, 'Done.'] as const],
  ])('is left as it is %s', (_case, parts) => {
    expect(said(...parts).at(-1)).toBe('Done.')
  })

  it('is parted once for many results', () => {
    expect(said('a', TOOLS, TOOLS, 'b', 'c')).toEqual(['a', '\n\nb', 'c'])
  })

  it('is whole where no tool was called', () => {
    expect(said('a', 'b').join('')).toBe('ab')
  })
})
