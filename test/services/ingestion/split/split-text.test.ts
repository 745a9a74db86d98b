import { describe, expect, it } from 'vitest'
import { SPLIT_LIMITS } from '../../../../src/services/ingestion/split/pack-units.ts'
import { splitText } from '../../../../src/services/ingestion/split/split-text.ts'

/** Small enough to see what happens: about a hundred and twenty Latin letters. */
const SMALL = { tokens: 30, overlap: 8, least: 4, enough: 15 }

const sentence = (count: number) => `${'word '.repeat(count).trim()}. `
const textsOf = (text: string, limits = SPLIT_LIMITS) =>
  splitText(text, limits).map((chunk) => chunk.text)
const headingsOf = (text: string, limits = SPLIT_LIMITS) =>
  splitText(text, limits).map((chunk) => chunk.heading)

describe('a short text', () => {
  it('is one passage, without the blanks around it', () => {
    expect(splitText('\ufeff\r\n  Hello there.\r\nGoodbye.\n\n')).toEqual([
      { text: 'Hello there.\r\nGoodbye.', heading: '', start: 5, end: 27 },
    ])
  })

  it('keeps short sections together, under the heading it begins with', () => {
    const text = '# Guide\n\nIntro.\n\n## Install\n\nRun it.\n\n## Use\n\nCall it.'
    expect(splitText(text)).toEqual([{ text, heading: 'Guide', start: 0, end: text.length }])
  })
})

describe('headings', () => {
  const body = sentence(18)

  it('begin passages, and are carried along as a path', () => {
    const text = `# Guide\n${body}\n\n## Install *now* ##\n${body}\n\n### [Linux](x.md)\n${body}${body}\n## Use\n${body}`
    expect(headingsOf(text, SMALL)).toEqual([
      'Guide',
      'Guide > Install now',
      'Guide > Install now > Linux',
      'Guide > Install now > Linux',
      'Guide > Use',
    ])
    expect(textsOf(text, SMALL)[1]).toMatch(/^## Install \*now\* ##\nword/)
  })

  it('may be underlined', () => {
    const text = `Guide\n=====\n${body}\n\nInstall\n-------\n${body}\n`
    expect(headingsOf(text, SMALL)).toEqual(['Guide', 'Guide > Install'])
  })

  it('are never the end of a passage that could end before them', () => {
    const text = `${sentence(12)}\n\n# Heading\n\n${sentence(20)}`
    expect(textsOf(text, SMALL)[0]).not.toContain('# Heading')
  })

  it.each([
    ['seven hashes', '####### no'],
    ['a hash without a blank', '#no'],
    ['four blanks before it', '    # no'],
    ['a comment in code', '```sh\n# no\n```'],
    ['prose of two lines above a rule', 'no\nno\n---'],
    ['the settings at the beginning', '---\ntitle: no\n---'],
    ['dashes below a blank line', 'no\n\n---'],
  ])('are not made of %s', (_case, beginning) => {
    expect(headingsOf(`${beginning}\n\nText.`)).toEqual([''])
  })

  it('bound the path they give', () => {
    const text = [1, 2, 3, 4, 5, 6].map((level) => `${'#'.repeat(level)} ${'x'.repeat(5_000)}\n`)
    for (const heading of headingsOf(`${text.join('')}\n${body}`)) {
      expect(heading.length).toBeLessThanOrEqual(6 * 120 + 5 * 3)
    }
  })
})

describe('prose', () => {
  it('is cut between sentences, repeating whole ones', () => {
    const text =
      'The first one is here. The second one follows it. A third one comes then. '.repeat(3)
    for (const chunk of textsOf(text, SMALL)) {
      expect(chunk).toMatch(/^(The first|The second|A third)/)
      expect(chunk).toMatch(/(here|it|then)\.$/)
    }
    const [first, second] = splitText(text, SMALL)
    expect(second?.start).toBeLessThan(first?.end ?? 0)
  })

  it.each([
    ['a title', 'We all went to see Dr. Miller today', 'He was not there at that hour'],
    ['a decimal number', 'The value of it is 3.14 at the most', 'That is what was measured there'],
    ['initials', 'It was then said by J. R. R. Tolkien', 'Nobody else has ever said it since'],
    [
      'a numbered figure',
      'You can see as much in Fig. 3 below',
      'The next one shows the rest of it',
    ],
    ['Latin', 'Use other tools, e.g. a small hammer', 'Then put it all back where it was'],
    ['a quotation', 'He said "Stop that at once, you!" to me', 'I did not stop it for his sake'],
  ])('is not cut at %s', (_case, first, second) => {
    const limits = { ...SMALL, tokens: 12, overlap: 0, least: 0 }
    expect(textsOf(`${first}. ${second}.`, limits)).toEqual([`${first}.`, `${second}.`])
  })

  it.each([
    ['Chinese', '这是第一个句子。', '这是第二个句子！'],
    ['Japanese in quotation marks', '「これは文です。」', '次の文です。'],
    ['Hindi', 'यह पहला वाक्य है।', 'यह दूसरा वाक्य है।'],
    ['Arabic', 'هل هذه هي الجملة الأولى؟', 'نعم، هذه هي الجملة الثانية.'],
  ])('ends its sentences in %s', (_case, first, second) => {
    const limits = { tokens: 10, overlap: 0, least: 0, enough: 10 }
    expect(textsOf(`${first}${second}`, limits)).toEqual([first, second])
  })

  it('without any blanks is cut between words, whole characters at least', () => {
    const families = '👩‍👩‍👧‍👦'.repeat(40)
    for (const chunk of textsOf(families, { ...SMALL, tokens: 100 })) {
      expect(chunk.length % '👩‍👩‍👧‍👦'.length).toBe(0)
    }
    const thai = 'ภาษาไทยไม่มีการเว้นวรรคระหว่างคำ'.repeat(10)
    for (const chunk of textsOf(thai, SMALL)) expect(chunk).not.toMatch(/^\p{M}/u)
  })

  it('begins a passage with a paragraph once the one before holds enough, repeating nothing', () => {
    const text = `${sentence(8)}${sentence(8)}\n\n${sentence(4)}\n\n${sentence(4)}${sentence(4)}`
    const [first, second] = text.split('\n\n', 2)
    const chunks = splitText(text, SMALL)
    expect(chunks[0]?.text).toBe(first?.trim())
    expect(chunks[1]?.text).toMatch(new RegExp(`^${second?.trim()}\\s`))
  })

  it('rather ends a passage with a paragraph than in the middle of the next', () => {
    const text = `${sentence(5)}${sentence(5)}${sentence(8)}\n\n${sentence(5)}${sentence(6)}${sentence(6)}`
    expect(textsOf(text, { ...SMALL, overlap: 0 })[0]).toBe(text.split('\n\n')[0]?.trim())
  })
})

describe('blocks', () => {
  const code = `\`\`\`js\n${'const a = 1\n'.repeat(8)}\`\`\``

  it('of code stay whole when they fit', () => {
    expect(textsOf(`${sentence(10)}${sentence(8)}\n\n${code}\n\nDone.`, SMALL)).toContainEqual(
      expect.stringContaining(code),
    )
  })

  it('of code that do not fit are cut between lines', () => {
    const text = `\`\`\`js\n${'const answer = 42; // so. And so.\n'.repeat(20)}\`\`\``
    for (const chunk of textsOf(text, SMALL)) {
      for (const line of chunk.split('\n')) {
        expect(['```js', '```', 'const answer = 42; // so. And so.']).toContain(line)
      }
    }
  })

  it('of rows are cut between rows, the first one staying with its head', () => {
    const head = '| name | value |\n|------|-------|\n'
    const text = `A table. See it.\n\n${head}${'| some | thing. Else |\n'.repeat(20)}`
    const chunks = textsOf(text, SMALL)
    expect(chunks[0]).toContain(`${head}| some | thing. Else |`)
    for (const chunk of chunks.slice(1)) {
      expect(chunk).toMatch(/^(\| some \| thing\. Else \|\n?)+$/)
    }
  })

  it('of items are cut between items', () => {
    const text = '- an item. With two sentences\n  and a second line\n* another one\n'.repeat(8)
    for (const chunk of textsOf(text, { ...SMALL, overlap: 0 })) {
      expect(chunk).toMatch(/^(- an item|\* another)/)
      expect(chunk).toMatch(/(second line|another one)$/)
    }
  })

  it('that are introduced by a colon stay with their introduction when they fit together', () => {
    const text = `${sentence(16)}\n\nRun this now:\n\n\`\`\`\n${'run --now\n'.repeat(6)}\`\`\``
    expect(textsOf(text, { ...SMALL, overlap: 0 }).at(-1)).toMatch(/^Run this now:/)
  })
})

describe('the last passage', () => {
  it('joins its neighbour when there is very little of it', () => {
    const text = `${sentence(7)}${sentence(7)}${sentence(7)}\n\nEnd of it.`
    expect(textsOf(text, SMALL).at(-1)).toMatch(/word\.\s+End of it\.$/)
  })
})
