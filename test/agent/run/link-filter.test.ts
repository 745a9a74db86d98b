import { describe, expect, it } from 'vitest'
import {
  createKnownHosts,
  createLinkFilter,
  hostsIn,
  type LinkPolicy,
} from '../../../src/agent/run/link-filter.ts'
import { hitOf } from '../../support/hit.ts'
import { long, someOf } from '../../support/long.ts'
import { processorMs } from '../../support/processor-time.ts'

const KNOWN = 'example.org'

function filter(policy: LinkPolicy, pieces: readonly string[]): string {
  const links = createLinkFilter(policy, (host) => host === KNOWN)
  return pieces.map(links.write).join('') + links.end()
}

const UNTOUCHED = [
  'Plain text, 1 < 2, a<5, "quotes", ~20 % and 5!',
  'Hello! [A link](https://example.org/a "title") and ![chart](/artifacts/a_1/chart.svg).',
  '```html\n<img src="https://evil.test/?q=1">\n![x](https://evil.test)\n```\nDone.',
  '~~~\n![x](https://evil.test)\n```\n![y](https://evil.test)\n~~~~\nDone.',
  'Use `<img src="https://evil.test">` or ``a ` <b c="d">``, not `i<n`.',
  'Water is H<sub>2</sub>O.<br>Next.',
  'Mail <me@example.org> or see <https://example.org/b>.',
  '| a | b |\n|---|---|\n| `c` | d |',
  'A \\![literal\\](mark) and a \\` tick.',
  '[A part](/guide#part-2), [another](#top) and [a][r].\n\n[r]: https://example.org/r\n[s]: https://example.org',
]

const IMAGES: [string, string][] = [
  ['![x](https://evil.test/?q=1)', '[x](https://evil.test/?q=1)'],
  ['!![x](https://evil.test)', '! [x](https://evil.test)'],
  ['![x](//evil.test/a)', '[x](//evil.test/a)'],
  ['![x](/\\evil.test)', '[x](/\\evil.test)'],
  ['![x][ref]\n\n[ref]: https://evil.test', '[x][ref]\n\n[ref]: https://evil.test'],
  ['![a ![b](/c) d](https://evil.test)', '[a ![b](/c) d](https://evil.test)'],
  ['<img src="https://evil.test">', '&lt;img src="https://evil.test">'],
  ['<IMG\nsrc=https://evil.test>', '&lt;IMG\nsrc=https://evil.test>'],
  ['<img <b src=https://evil.test>', '&lt;img &lt;b src=https://evil.test>'],
  ['<script>f()</script>', '&lt;script>f()&lt;/script>'],
  ['a ` tick ![x](https://evil.test)', 'a ` tick [x](https://evil.test)'],
  ['a ` tick\n`![x](https://evil.test)`', 'a ` tick\n`[x](https://evil.test)`'],
  ['| `a | ![x](https://evil.test)` |', '| `a | [x](https://evil.test)` |'],
  ['<div>\n`<img src=e>`', '<div>\n`&lt;img src=e>`'],
  ['<div>\n```\n\n![x](https://evil.test)', '<div>\n```\n\n[x](https://evil.test)'],
  ['- ```\n![x](https://evil.test)', '- ```\n[x](https://evil.test)'],
  ['- a\n  ```\n![x](https://evil.test)', '- a\n  ```\n[x](https://evil.test)'],
  ['``` a`\n![x](https://evil.test)', '``` a`\n[x](https://evil.test)'],
  ['``` a` ![x](https://evil.test)\n', '``` a` [x](https://evil.test)\n'],
  ['```\ncode\n```\n![x](https://evil.test)', '```\ncode\n```\n[x](https://evil.test)'],
]

const LINKS: [string, string][] = [
  ['[x](https://evil.test/?q=1).', '[x] (`https://evil.test/?q=1`).'],
  ['[x](<https://evil.test>)', '[x] (&lt;`https://evil.test`>)'],
  ['[x](\nhttps://evil.test)', '[x] (\n`https://evil.test`)'],
  ['[x](https:evil.test)', '[x] (https:evil.test)'],
  ['[x](/&#92;evil.test)', '[x] (/&#92;evil.test)'],
  ['[x](<//evil.test>)', '[x] (&lt;//evil.test>)'],
  ['[https://example.org](https://evil.test)', '[https://example.org] (`https://evil.test`)'],
  ['[x](https://example.org@evil.test)', '[x] (`https://example.org@evil.test`)'],
  ['[x][r]\n\n[r]: https://evil.test\n', '[x][r]\n\n[r] : `https://evil.test`\n'],
  ['See https://evil.test/a, or www.evil.test.', 'See `https://evil.test/a`, or `www.evil.test`.'],
  ['<https://evil.test>', '&lt;`https://evil.test`>'],
  ['a ` tick https://evil.test', 'a ` tick ``https://evil.test``'],
  ['[x](javascript:alert(1))', '[x] (javascript:alert(1))'],
  ['![x](https://evil.test)', '[x] (`https://evil.test`)'],
  [
    '**https://example.org/a** and www.example.org',
    '**https://example.org/a** and `www.example.org`',
  ],
]

describe('The links of an answer', () => {
  it.each(UNTOUCHED)('stay as they are where nothing is loaded from elsewhere: %j', (text) => {
    expect(filter('no-images', [text])).toBe(text)
    expect(filter('known', [text])).toBe(text)
  })

  it.each(IMAGES)('load nothing without images: %j', (text, expected) => {
    expect(filter('no-images', [text])).toBe(expected)
    expect(filter('all', [text])).toBe(text)
  })

  it.each(LINKS)('lead to known hosts alone: %j', (text, expected) => {
    expect(filter('known', [text])).toBe(expected)
  })

  it('do not depend on how the answer is split into pieces', () => {
    const each = [...UNTOUCHED, ...[...IMAGES, ...LINKS].map(([text]) => text)]
    for (const text of [...each, each.join('\n\n')]) {
      for (const policy of ['no-images', 'known'] as const) {
        const whole = filter(policy, [text])
        expect(filter(policy, text.split(''))).toBe(whole)
        for (let at = 1; at < Math.min(text.length, 400); at += 1) {
          expect(filter(policy, [text.slice(0, at), text.slice(at)])).toBe(whole)
        }
      }
    }
  })

  it('do not delay plain text', () => {
    const links = createLinkFilter('no-images', () => false)
    expect(links.write('At nine on weekdays.')).toBe('At nine on weekdays.')
    expect(links.write('See ![a](/b.svg) and')).toBe('See ![a](/b.svg) and')
  })

  it('are processed in time linear in the answer', () => {
    const text = '![<`](!![`~'.repeat(20_000)
    const started = processorMs()
    filter('known', [...(text.match(/.{1,7}/gs) ?? [])])
    expect(processorMs() - started).toBeLessThan(10_000)
  })
})

it.each(someOf(['![', '](', 'h', '<', '<a', '![x](<a ](http://www.`` `a` \\[<b>]:w h f\n'], 1))(
  'An answer of %j, in one piece, is filtered at once',
  long,
  (part) => {
    const text = part.repeat(600_000 / part.length)
    const started = processorMs()
    filter('known', [text])
    expect(processorMs() - started).toBeLessThan(1_000)
  },
)

it('knows the hosts that the configuration or a hit names', () => {
  const hit = { ...hitOf('a'), text: 'See https://docs.example.org/x.', url: 'https://a.test/b' }
  const isKnown = createKnownHosts(hostsIn('{"url":"https://mcp.example.org/mcp"}'), {
    all: () => [hit],
  })
  expect(['mcp.example.org', 'docs.example.org', 'a.test'].filter(isKnown)).toHaveLength(3)
  expect(['example.org', 'evil.test', ''].some(isKnown)).toBe(false)
})

it.each(['a', 'a-'])('finds hosts in a long word of %s in time that grows with it', (part) => {
  const started = processorMs()
  expect(hostsIn(`${part.repeat(60_000)} docs.example.org`)).toEqual(['docs.example.org'])
  expect(processorMs() - started).toBeLessThan(1_000)
})
