import { describe, expect, it } from 'vitest'
import { extractHtml } from '../../../../src/services/extraction/formats/html.ts'
import { fixture } from '../../../support/forms.ts'

const textOf = (html: string) => extractHtml(html).text
const LONG = 'Herons stand still in shallow water and wait for a fish to come near. '.repeat(6)

describe('A page', () => {
  it('is its main content, under its title', () => {
    const text = textOf(fixture('pelicans.html').toString())
    expect(text).toMatch(/^# Pelicans\n\nPelicans fish in groups/)
    expect(text).toContain('## Breeding')
    expect(text).toContain('| Dalmatian | 3.1 m |')
    for (const furniture of ['Home', 'Cookie', 'Imprint', 'track', 'color: red']) {
      expect(text).not.toContain(furniture)
    }
  })

  it('is all of it, where no main content stands out', () => {
    const html = '<title>List</title><body><p>One.</p><p>Two.</p>'
    expect(textOf(html)).toBe('# List\n\nOne.\n\nTwo.')
  })

  it('is all of it, where the main content would be a small part', () => {
    const cells = Array.from({ length: 40 }, (_, i) => `<div><b>Item ${i}</b> costs ${i}</div>`)
    const text = textOf(`<body><article><p>${LONG}</p></article>${cells.join('')}</body>`)
    expect(text).toContain('Herons stand still')
  })

  it('is all of it but for its navigation, where it is very long', () => {
    const sections = Array.from(
      { length: 5_000 },
      (_, i) => `<h2 id="s${i}">Section ${i}</h2><p class="body">${LONG}</p>`,
    )
    const text = textOf(
      `<title>Manual</title><body><nav>Home</nav>${sections.join('')}<footer>Imprint</footer>`,
    )
    expect(text).toMatch(/^# Manual\n\n## Section 0\n\nHerons stand still/)
    expect(text).toContain('## Section 4999')
    expect(text).not.toMatch(/Home|Imprint/)
  })

  it('has its title once', () => {
    const html = `<title>Herons</title><body><h1>Herons</h1><p>Short.</p></body>`
    expect(textOf(html)).toBe('# Herons\n\nShort.')
  })

  it('may have neither a title nor a body', () => {
    expect(textOf('<html></html>')).toBe('')
    expect(textOf('<p>Alone.</p>')).toContain('Alone.')
  })

  it('may be malformed', () => {
    expect(textOf('<body><p>One<p>Two<b>bold<i>both</b>rest')).toMatch(/One\s+Two/)
  })
})

describe('What is no text is left out', () => {
  it.each([
    ['a script', '<script>alert("x")</script>'],
    ['a style', '<style>p { margin: 0 }</style>'],
    ['a drawing', '<svg><text>axis</text></svg>'],
    ['a frame', '<iframe src="https://example.org">frame</iframe>'],
    ['what stands in for a script', '<noscript>enable it</noscript>'],
    ['a template', '<template><p>later</p></template>'],
    ['a comment', '<!-- hidden -->'],
  ])('%s', (_case, html) => {
    expect(textOf(`<body><p>Before.</p>${html}<p>After.</p></body>`)).toBe('Before.\n\nAfter.')
  })

  it('where a link leads, and what a picture is made of', () => {
    const html =
      '<p>See <a href="https://example.org/x">this</a> <img src="data:image/png;base64,AAAA" alt="A tern"></p>'
    expect(textOf(`<body>${html}</body>`)).toBe('See this A tern')
  })
})
