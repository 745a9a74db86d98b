import { expect, it } from 'vitest'
import { LANGUAGES } from '../../ui/chat/code-languages.ts'

// By a variable, as its library brings the types of browsers, which those of Node.js do not go with.
const MODULE = '../../ui/chat/code-colours.ts'
const { colour }: { colour(code: string, language: string): string } = await import(MODULE)

it.each([...LANGUAGES])('code in %s is coloured, and escaped', (language) => {
  expect(colour('<x> 1', language)).toContain('&lt;')
})

it('names the words of a language', () => {
  expect(colour('const a = "b" // c', 'ts')).toBe(
    '<span class="hljs-keyword">const</span> a = <span class="hljs-string">&quot;b&quot;</span> <span class="hljs-comment">// c</span>',
  )
})
