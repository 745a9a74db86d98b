import { describe, expect, it } from 'vitest'
import { htmlToMarkdown } from '../../../../src/services/extraction/formats/html.ts'
import { processorMs } from '../../../support/processor-time.ts'

describe('HTML becomes Markdown', () => {
  it.each([
    ['headings', '<h1>One</h1><h2>Two</h2><h6>Six</h6>', '# One\n\n## Two\n\n###### Six'],
    ['paragraphs', '<p>One.</p><p>Two.</p>', 'One.\n\nTwo.'],
    ['a list', '<ul><li>one</li><li>two</li></ul>', '-   one\n-   two'],
    ['a numbered list', '<ol><li>one</li><li>two</li></ol>', '1.  one\n2.  two'],
    [
      'code',
      '<pre><code class="language-js">let a\nlet b</code></pre>',
      '```js\nlet a\nlet b\n```',
    ],
    ['a quotation', '<blockquote><p>Said.</p></blockquote>', '> Said.'],
    ['entities', '<p>Caf&eacute; &amp; &lt;tag&gt;</p>', 'Café & <tag>'],
    ['nothing', '', ''],
  ])('%s', (_case, html, markdown) => expect(htmlToMarkdown(html)).toBe(markdown))

  it('that can be searched: no word is escaped', () => {
    expect(htmlToMarkdown('<p>snake_case * 2 [x] 1. #</p>')).toBe('snake_case * 2 [x] 1. #')
  })
})

describe('A table becomes a table', () => {
  const rows = (...cells: string[][]) =>
    cells.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')

  it('with its first row as the head, also where nothing says so', () => {
    const html = `<table>${rows(['Bird', 'Span'], ['Tern', '80 cm'])}</table>`
    expect(htmlToMarkdown(html)).toBe('| Bird | Span |\n| --- | --- |\n| Tern | 80 cm |')
  })

  it('with head, body and foot', () => {
    const html =
      '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody><tfoot><tr><td>3</td><td>4</td></tr></tfoot></table>'
    expect(htmlToMarkdown(html)).toBe('| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |')
  })

  it('whose cells keep to one line and hold no bar', () => {
    const html = `<table>${rows(['a', 'b'], ['<p>one</p><p>two</p>', 'x | y'])}</table>`
    expect(htmlToMarkdown(html)).toMatch(/\| one two \| x \/ y \|$/)
  })

  it('unless it only arranges other things', () => {
    const inner = `<table>${rows(['a', 'b'], ['1', '2'])}</table>`
    const mail = `<table><tr><td><h1>Hello</h1><p>Text.</p></td></tr><tr><td>${inner}</td></tr></table>`
    expect(htmlToMarkdown(mail)).toMatch(/^# Hello\n\nText\.\s+\| a \| b \|\n\| --- \| --- \|\n/)
    expect(htmlToMarkdown(`<table>${rows(['One.'], ['Two.'])}</table>`)).toBe('One.\n\nTwo.')
  })

  it('in a time that grows with its rows, and not with their square', () => {
    const many = Array.from({ length: 4_000 }, (_, i) => [`name ${i}`, String(i), 'x'])
    const started = processorMs()
    expect(htmlToMarkdown(`<table>${rows(...many)}</table>`)).toMatch(/name 3999 \| 3999 \| x \|$/)
    expect(processorMs() - started).toBeLessThan(20_000)
  })

  it('though it is empty', () => expect(htmlToMarkdown('<table></table>')).toBe(''))
})
