import { describe, expect, it } from 'vitest'
import { fixture } from '../../../../test/support/forms.ts'
import { onlyLong } from '../../../../test/support/long.ts'
import { processorMs } from '../../../../test/support/processor-time.ts'
import { extractHtml, htmlToMarkdown } from '../../src/formats/html.ts'

const textOf = async (html: string) => (await extractHtml(html)).text
const LONG = 'Herons stand still in shallow water and wait for a fish to come near. '.repeat(6)

describe('A page', () => {
  it('is its text under its title, without its navigation', async () => {
    const text = await textOf(fixture('pelicans.html').toString())
    expect(text).toMatch(/^# Pelicans\n\nPelicans fish in groups/)
    expect(text).toContain('## Breeding')
    expect(text).toContain('| Dalmatian | 3.1 m |')
    for (const left of ['Home', 'Cookie', 'track', 'color: red']) expect(text).not.toContain(left)
  })

  it('keeps every section of a manual, whatever it is called', async () => {
    const ids =
      'request-headers http-headers community extra-options comment-syntax pagination remarks share social-security sidebar footnotes'
    const sections = ids
      .split(' ')
      .map(
        (id) => `<section id="${id}" class="${id}"><h2>About ${id}</h2><p>Of ${id}.</p></section>`,
      )
    const text = await textOf(
      `<body><main><h1>Manual</h1><p>${LONG}</p>${sections.join('')}</main></body>`,
    )
    for (const id of ids.split(' ')) expect(text).toContain(`## About ${id}\n\nOf ${id}.`)
  })

  it('keeps each cell of its table', async () => {
    const cells = ['a', 'b', 'c', '1', '2', '3', '4', '5', '6']
    const row = (from: number) =>
      `<tr>${cells
        .slice(from, from + 3)
        .map((cell) => `<td>${cell}</td>`)
        .join('')}</tr>`
    expect(
      await textOf(`<title>Prices</title><body><table>${row(0)}${row(3)}${row(6)}</table>`),
    ).toBe('# Prices\n\n| a | b | c |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| 4 | 5 | 6 |')
  })

  it('is the content that it marks as its main one', async () => {
    const html = `<header>My site</header><main><p>${LONG}</p></main><footer>Imprint</footer>`
    expect(await textOf(`<body>${html}</body>`)).toBe(LONG.trim())
  })

  it('is the whole page if the marked part is small', async () => {
    const text = await textOf(`<body><main><p>One.</p></main><p>${LONG}</p></body>`)
    expect(text).toBe(`One.\n\n${LONG.trim()}`)
  })

  it('keeps what it calls navigation but is text', async () => {
    const text = await textOf(`<body><nav><a href="/">Home</a><p>${LONG}</p></body>`)
    expect(text).toContain('Herons stand still')
  })

  it('is all of it but for its navigation, where it is very long', onlyLong, async () => {
    const sections = Array.from(
      { length: 5_000 },
      (_, i) => `<h2 id="s${i}">Section ${i}</h2><p class="body">${LONG}</p>`,
    )
    const text = await textOf(
      `<title>Manual</title><body><nav><a href="/">Home</a></nav>${sections.join('')}`,
    )
    expect(text).toMatch(/^# Manual\n\n## Section 0\n\nHerons stand still/)
    expect(text).toContain('## Section 4999')
    expect(text).not.toContain('Home')
  })

  it('has its title once', async () => {
    const html = `<title>Herons</title><body><h1>Herons</h1><p>Short.</p></body>`
    expect(await textOf(html)).toBe('# Herons\n\nShort.')
  })

  it('may have neither a title nor a body', async () => {
    expect(await textOf('<html></html>')).toBe('')
    expect(await textOf('<p>Alone.</p>')).toContain('Alone.')
  })

  it('may be malformed', async () => {
    expect(await textOf('<body><p>One<p>Two<b>bold<i>both</b>rest')).toMatch(/One\s+Two/)
  })
})

describe('What follows the end of a page', () => {
  it.each([
    ['a paragraph', '<html><body><p>One</p></body></html><p>Two</p>'],
    [
      'another whole page, as mails have behind a file',
      '<html><head><title>T</title></head><body class="a"><p>One</p></body></html>\n<!doctype html><html><head><title>Next</title></head><body><p>Two</p></body></html>',
    ],
  ])('is read, too: %s', async (_case, html) => {
    expect(await textOf(html)).toMatch(/One\n\nTwo$/)
  })
})

describe('What is no text is left out', () => {
  it.each([
    ['a script', '<script>alert("x")</script>'],
    ['a style', '<style>p { margin: 0 }</style>'],
    ['an icon', '<svg><title>Close</title><path d="M0 0"/></svg>'],
    ['a frame', '<iframe src="https://example.org">frame</iframe>'],
    ['what stands in for a script', '<noscript>enable it</noscript>'],
    ['a template', '<template><p>later</p></template>'],
    ['a comment', '<!-- hidden -->'],
    ['what is hidden', '<p hidden>later</p><div style="color: red; display: none">never</div>'],
    ['a list of links', '<div role="navigation"><a href="/">Home</a> <a href="/2">Next</a></div>'],
    ['the address of a heading', '<a class="headerlink" href="#before">¶</a>'],
  ])('%s', async (_case, html) => {
    expect(await textOf(`<body><p>Before.</p>${html}<p>After.</p></body>`)).toBe(
      'Before.\n\nAfter.',
    )
  })

  it('where a link leads, and what a picture is made of', async () => {
    const html =
      '<p>See <a href="https://example.org/x">this</a> <img src="data:image/png;base64,AAAA" alt="A tern"></p>'
    expect(await textOf(`<body>${html}</body>`)).toBe('See this A tern')
  })

  it('a diagram but for its labels', async () => {
    const diagram = '<svg><title>Icon</title><g><text>Expr</text><text>LIMIT</text></g></svg>'
    expect(await textOf(`<body><p>Before</p>${diagram}<p>After</p></body>`)).toBe(
      'Before\n\nExpr LIMIT\n\nAfter',
    )
  })
})

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
  ])('%s', async (_case, html, markdown) => expect(await htmlToMarkdown(html)).toBe(markdown))

  it('that can be searched: no word is escaped', async () => {
    expect(await htmlToMarkdown('<p>snake_case * 2 [x] 1. #</p>')).toBe('snake_case * 2 [x] 1. #')
  })
})

describe('A table becomes a table', () => {
  const rows = (...cells: string[][]) =>
    cells.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')

  it('with its first row as the head, also where nothing says so', async () => {
    const html = `<table>${rows(['Bird', 'Span'], ['Tern', '80 cm'])}</table>`
    expect(await htmlToMarkdown(html)).toBe('| Bird | Span |\n| --- | --- |\n| Tern | 80 cm |')
  })

  it('with head, body and foot', async () => {
    const html =
      '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody><tfoot><tr><td>3</td><td>4</td></tr></tfoot></table>'
    expect(await htmlToMarkdown(html)).toBe('| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |')
  })

  it('whose cells keep to one line and hold no bar', async () => {
    const html = `<table>${rows(['a', 'b'], ['<p>one</p><p>two</p>', 'x | y'])}</table>`
    expect(await htmlToMarkdown(html)).toMatch(/\| one two \| x \/ y \|$/)
  })

  it('unless it only arranges other things', async () => {
    const inner = `<table>${rows(['a', 'b'], ['1', '2'])}</table>`
    const mail = `<table><tr><td><h1>Hello</h1><p>Text.</p></td></tr><tr><td>${inner}</td></tr></table>`
    expect(await htmlToMarkdown(mail)).toMatch(
      /^# Hello\n\nText\.\s+\| a \| b \|\n\| --- \| --- \|\n/,
    )
    expect(await htmlToMarkdown(`<table>${rows(['One.'], ['Two.'])}</table>`)).toBe('One.\n\nTwo.')
  })

  it('in a time that grows with its rows, and not with their square', onlyLong, async () => {
    const many = Array.from({ length: 4_000 }, (_, i) => [`name ${i}`, String(i), 'x'])
    const started = processorMs()
    expect(await htmlToMarkdown(`<table>${rows(...many)}</table>`)).toMatch(
      /name 3999 \| 3999 \| x \|$/,
    )
    expect(processorMs() - started).toBeLessThan(20_000)
  })

  it('though it is empty', async () => expect(await htmlToMarkdown('<table></table>')).toBe(''))
})

describe('A cell that spans several places', () => {
  const table = (...rows: string[]) =>
    htmlToMarkdown(`<table>${rows.map((row) => `<tr>${row}</tr>`).join('')}</table>`)

  it('is repeated in each of its rows, and keeps those after it under their heads', async () => {
    expect(
      await table(
        '<th>Quay<th>Shift<th>Crane<th>Fee',
        '<td rowspan=2>West<td>day<td>K1<td>4.10',
        '<td>night<td>K2<td>2.60',
        '<td colspan=3>Together<td>6.70',
      ),
    ).toBe(
      '| Quay | Shift | Crane | Fee |\n| --- | --- | --- | --- |\n| West | day | K1 | 4.10 |\n| West | night | K2 | 2.60 |\n| Together |  |  | 6.70 |',
    )
  })

  it.each([
    ['', '<td rowspan=2>Route<td colspan=2>Season', '<td>Summer<td>Winter'],
    ['without a span of rows', '<td>Route<td colspan=2>Season', '<td><td>Summer<td>Winter'],
  ])('makes one head of two rows %s', async (_case, ...rows) => {
    expect(await table(...rows, '<td>Isle<td>14<td>9')).toBe(
      '| Route | Season Summer | Season Winter |\n| --- | --- | --- |\n| Isle | 14 | 9 |',
    )
  })

  it('goes before the table as its title, where it is all of the first row', async () => {
    expect(await table('<td colspan=2>Fees of 2026', '<td>Ship<td>Fee', '<td>Tug<td>12')).toBe(
      'Fees of 2026\n\n| Ship | Fee |\n| --- | --- |\n| Tug | 12 |',
    )
  })

  it('ends with its part of the table, and takes no more than the table has room for', async () => {
    const html =
      '<table><thead><tr><th>a<th>b</thead><tbody><tr><td rowspan=0>x<td>1</tr><tr><td>2</tbody><tbody><tr><td rowspan=65534 colspan=1000>y</tbody></table>'
    expect(await htmlToMarkdown(html)).toMatch(
      /^\| a \| b \|[^\n]*\n[^\n]*\n\| x \| 1 \|[^\n]*\n\| x \| 2 \|/,
    )
  })
})

describe('What stands above or below the line keeps apart from numbers', () => {
  it.each([
    ['10<sup>6</sup> litres', '10^6 litres'],
    ['10<sup>-6</sup>', '10^-6'],
    ['45<sup>2</sup> crowns', '45^2 crowns'],
    ['45<sup><a href="#n2">2</a></sup> crowns', '45^2 crowns'],
    ['45<a href="notes.xhtml#n2">2</a> crowns', '45[2] crowns'],
    ['45<sup>1</sup><sup>2</sup>', '45^12'],
    ['<b>45</b><sup>2</sup>', '**45**^2'],
    ['45<span style="vertical-align: super">2</span>', '45^2'],
    ['45<span style="vertical-align: top">2</span>', '452'],
    ['45<span style="vertical-align: text-bottom">2</span>', '452'],
    ['45<span style="vertical-align:SUB">2</span>', '45_2'],
    ['45<span style="vertical-align: 35%">2</span>', '45^2'],
    ['45<span style="position: relative; top: -4px">2</span>', '45^2'],
    ['45<span style="vertical-align: 1px">2</span>', '452'],
    ['12 m<sup>2</sup>', '12 m²'],
    ['the pier<sup>3</sup>', 'the pier^3'],
    ['2<sup>10</sup>4', '2^{10}4'],
    ['CO<sub>2</sub> and H<sub>2</sub>SO<sub>4</sub>', 'CO₂ and H₂SO₄'],
    ['101<sub>2</sub>', '101_2'],
    ['x<sub>max</sub>', 'x_max'],
    ['the 21<sup>st</sup>', 'the 21st'],
    ['M<sup>lle</sup> Owl', 'Mlle Owl'],
    ['see <a href="#a">1</a>', 'see 1'],
  ])('%s', async (html, text) => expect(await htmlToMarkdown(`<p>${html}</p>`)).toBe(text))

  it('where only the style sheet says so', async () => {
    const html = '<style>p { color: red } .c5 { vertical-align: super; font-size: 6pt }</style>'
    expect(await textOf(`${html}<body><p>45<span class="c5">2</span> crowns</p>`)).toBe(
      '45^2 crowns',
    )
    const prices =
      '<style>.old { color: grey; text-decoration: line-through } .new { text-decoration: underline }</style>'
    expect(
      await textOf(`${prices}<body><p><span class="old">40</span> <span class="new">50</span></p>`),
    ).toBe('~~40~~ 50')
  })
})

describe('What a browser shows in another way is text', () => {
  it.each([
    [
      'ticks',
      '<p><input type=checkbox checked> Moored <input type="checkbox"> Adrift</p>',
      '[x] Moored [ ] Adrift',
    ],
    [
      'a choice',
      '<p>Sea: <select><option>Arctic<option selected>Baltic</select></p>',
      'Sea: Baltic',
    ],
    ['choices', '<p>Sea: <select><option>Arctic<option>Baltic</select></p>', 'Sea: Arctic, Baltic'],
    [
      'what was typed',
      '<p>Name: <input value="Tern"> <textarea>two\nwords</textarea><input type=hidden value=x></p>',
      'Name: Tern two words',
    ],
    ['how it is read', '<p><ruby>港<rt>みなと</rt></ruby>に</p>', '港(みなと)に'],
    [
      'how each sign is read',
      '<p><ruby>北<rt>běi</rt></ruby><ruby>京<rt>jīng</rt></ruby></p>',
      '北京(běi jīng)',
    ],
    ['the letters of a list', '<ol type="a" start="3"><li>one<li>two</ol>', 'c.  one\nd.  two'],
    [
      'the numbers of a list',
      '<ol><li value="7">one<li>two</ol><ol reversed><li>b<li>a</ol>',
      '7.  one\n8.  two\n\n2.  b\n1.  a',
    ],
    [
      'all of a listing',
      '<pre><code>$ </code>unxz\n<code>done</code></pre>',
      '```\n$ unxz\ndone\n```',
    ],
    ['lines of a listing', '<pre><code>one<br>two</code></pre>', '```\none\ntwo\n```'],
    [
      'the title of a table',
      '<table><caption>Pairs</caption><tr><td>a<td>b<tr><td>1<td>2</table>',
      'Pairs\n\n| a | b |\n| --- | --- |\n| 1 | 2 |',
    ],
  ])('%s', async (_case, html, text) => expect(await htmlToMarkdown(html)).toBe(text))

  it('blocks that only browsers know apart', async () => {
    const html =
      '<label>Off</label><details><summary>More</summary>Hidden <b>text</b></details><dialog>Saved</dialog>tail'
    expect(await htmlToMarkdown(html)).toBe('Off\n\nMore\n\nHidden **text**\n\nSaved\n\ntail')
  })

  // microsoft/markitdown#2340: an old price beside the new one.
  it('what is struck out as such, each line by itself', async () => {
    const html =
      '<p>Fee <del>40 </del>50, <s>Mon</s><strike>day</strike> Tuesday, <span style="text-decoration:line-through">late</span></p><del><p>One</p><p>two m<sup>2</sup></p></del>'
    expect((await htmlToMarkdown(html)).trim().split(/\n+/)).toEqual([
      'Fee ~~40~~ 50, ~~Monday~~ Tuesday, ~~late~~',
      '~~One~~',
      '~~two m²~~',
    ])
  })

  it.each([
    [
      'a table',
      '<del><table><tr><td>a<td>b<tr><td>1<td>2</table></del>',
      '| a | b |\n| --- | --- |\n| 1 | 2 |',
    ],
    ['a list', '<del><ul><li>one<li>two</ul></del>', '-   one\n-   two'],
    ['code', '<p><code><s>x</s></code></p>', '`x`'],
    ['a quotation', '<del><blockquote><p>One</blockquote></del>', '> One'],
    ['a list with a price of old', '<del><ul><li>was <s>40</s> 50</ul></del>', '-   was ~~40~~ 50'],
  ])('struck-out marks do not take %s apart', async (_case, html, text) => {
    expect((await htmlToMarkdown(html)).trim()).toBe(text)
  })

  it('text that is struck out twice, once', async () => {
    const style = '<style>.old { text-decoration: line-through }</style>'
    for (const inner of ['<del>40</del>', '<span class="old">40</span>']) {
      const html = `${style}<p><del>The fee is ${inner} euros</del> now 50</p>`
      expect((await htmlToMarkdown(html)).trim()).toBe('~~The fee is 40 euros~~ now 50')
    }
  })

  it('a heading in one line', async () => {
    // KKonstantinov/markdown-for-agents#25
    expect(await htmlToMarkdown('<h2>Opening<br>hours</h2><p>Mon<br>Tue</p>')).toBe(
      '## Opening hours\n\nMon  \nTue',
    )
  })

  it('a list of many items takes time that grows with them', async () => {
    const time = async (count: number) => {
      const started = processorMs()
      await htmlToMarkdown(`<ol>${'<li>one</li>'.repeat(count)}</ol>`)
      return processorMs() - started
    }
    expect(await time(20_000)).toBeLessThan(6_000)
  })

  it('a table of more rows than a call takes arguments', onlyLong, async () => {
    const rows = '<tr><td>7<td>120'.repeat(150_000)
    const text = await htmlToMarkdown(`<table><tr><td colspan=2>a${rows}</table>`)
    expect(text.match(/120/g)).toHaveLength(150_000)
  })

  it('what stands outside the main part of a page', async () => {
    const html = `<main><p>${LONG}</p></main><section><p>Also told.</p></section><p>${LONG}</p>`
    expect(await textOf(`<body>${html}</body>`)).toContain('Also told.')
  })
})
