import { segmentsOf } from '@agent-server/lib/text/segments.ts'
import { describe, expect, it } from 'vitest'
import {
  estimateTokens,
  SPLIT_LIMITS,
  type SplitChunk,
} from '../../../../src/documents/ingestion/split/pack-units.ts'
import {
  type SplitContext,
  splitPiece,
  splitText,
} from '../../../../src/documents/ingestion/split/split-text.ts'
import { isLong, long } from '../../../support/long.ts'
import { processorMs } from '../../../support/processor-time.ts'
import { randomText, seededRandom } from '../random-text.ts'

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

/** The passages of all pieces, as offsets into the whole. */
function splitAll(pieces: Iterable<string>) {
  let context: SplitContext | undefined
  let offset = 0
  return Array.from(pieces).flatMap((piece) => {
    const split = splitPiece(piece, context)
    const start = offset
    context = split.context
    offset += piece.length
    return split.chunks.map((one) => ({
      ...one,
      start: one.start + start,
      end: one.end + start,
    }))
  })
}

describe('a text that is split piece by piece', () => {
  it('holds every character that is not blank, each passage where it stands', () => {
    for (let seed = 0; seed < 30; seed++) {
      const text = randomText(seededRandom(seed), 2_000)
      const chunks = splitAll(segmentsOf(text, 5_000))
      let end = 0
      for (const chunk of chunks) {
        expect(text.slice(chunk.start, chunk.end)).toBe(chunk.text)
        expect(splitText(text.slice(end, Math.max(end, chunk.start)))).toEqual([])
        end = Math.max(end, chunk.end)
      }
      expect(splitText(text.slice(end))).toEqual([])
    }
  })

  it('is the same as one that is split at once, where it is cut between sections', () => {
    const section = (i: number) => `## Part ${i}\n\n${`Owls hunt in part ${i}. `.repeat(60)}\n\n`
    const sections = Array.from({ length: 12 }, (_, i) => section(i))
    const whole = splitText(`# Owls\n\n${sections.join('')}`)
    const [first = '', ...rest] = sections
    expect(splitAll([`# Owls\n\n${first}`, ...rest])).toEqual(whole)
  })

  it('goes on below the headings of the pieces before', () => {
    const chunks = splitAll(['# Guide\n\n## Install\n\nRun.\n\n', 'More.\n\n', '## Use\n\nCall.'])
    expect(chunks.map(({ heading }) => heading)).toEqual([
      'Guide',
      'Guide > Install',
      'Guide > Use',
    ])
  })

  it('goes on within a block of code, until its fence is closed', () => {
    const code = ['```py\n# one\n', '# two\n\n', '  \n', '# three\n```\n\n# Text\n\nWords.']
    const chunks = splitAll(code)
    expect(chunks.map(({ heading }) => heading)).toEqual(['', '', ''])
    expect(chunks.at(-1)?.text).toMatch(/^# three\n```\n\n# Text/)
    expect(splitPiece('```\nno end', undefined).context.fence).toEqual('```')
    expect(splitPiece('```\n', { headings: [], fence: '```' }).context).toEqual({
      headings: [],
      fence: undefined,
    })
  })

  it('takes the settings that begin a text for settings, and no others', () => {
    const text = '---\ntitle: x\n---\n\nText.'
    expect(splitPiece(text, undefined).chunks).toHaveLength(1)
    const context = { headings: [], fence: undefined }
    expect(splitPiece(text, context).context.headings).toEqual([{ level: 2, title: 'title: x' }])
  })
})

const LIMITS = [SPLIT_LIMITS, { tokens: 40, overlap: 8, least: 6, enough: 20 }]
const TEXTS = isLong ? 400 : 60
const SEEDS = Array.from({ length: TEXTS }, (_, seed) => seed)

/** What is wrong with the chunks of a text, in words. */
function faultsOf(text: string, chunks: readonly SplitChunk[], most: number): string[] {
  const faults = chunks.flatMap((chunk) => faultsOfOne(text, chunk, most))
  const ends = [0, ...chunks.map(({ end }) => end)]
  const starts = [...chunks.map(({ start }) => start), text.length]
  for (const [index, start] of starts.entries()) {
    if (text.slice(ends[index], start).trim() !== '') faults.push(`text before ${start} is lost`)
  }
  for (const [index, { start, end }] of chunks.slice(1).entries()) {
    const goesOn = start > (starts[index] ?? 0) && end > (ends[index + 1] ?? 0)
    if (!goesOn) faults.push(`[${start}, ${end}) does not go on`)
  }
  return faults
}

function faultsOfOne(text: string, chunk: SplitChunk, most: number): string[] {
  const { start, end } = chunk
  const checks = {
    'is not its text': text.slice(start, end) !== chunk.text,
    'has blanks around it': chunk.text.trim() !== chunk.text,
    'is too long': estimateTokens(text, start, end) > most,
    'cuts a character': cutsPair(text, start) || cutsPair(text, end),
  }
  return Object.entries(checks)
    .filter(([, isFault]) => isFault)
    .map(([fault]) => `[${start}, ${end}) ${fault}`)
}

function cutsPair(text: string, index: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(0, index - 1), index + 1))
}

describe.each(LIMITS)('chunks of at most $tokens tokens', (limits) => {
  it('are exact slices, in order, bounded, and lose nothing, for many random texts', long, () => {
    for (const seed of SEEDS) {
      const text = randomText(seededRandom(seed), 400)
      const chunks = splitText(text, limits)
      const faults = faultsOf(text, chunks, limits.tokens + limits.least)
      expect(faults, `seed ${seed}`).toEqual([])
    }
  })

  it('are the same when the same text is split again', () => {
    const text = randomText(seededRandom(7), 2_000)
    expect(splitText(text, limits)).toEqual(splitText(text, limits))
  })

  it('repeat no more than the overlap', long, () => {
    for (const seed of SEEDS) {
      const text = randomText(seededRandom(seed), 400)
      const chunks = splitText(text, limits)
      for (const [index, { start }] of chunks.entries()) {
        const end = chunks[index - 1]?.end ?? 0
        expect(estimateTokens(text, start, Math.max(start, end))).toBeLessThanOrEqual(
          limits.overlap,
        )
      }
    }
  })
})

describe('the check of these properties', () => {
  it.each([
    [
      'a slice that is not exact',
      { start: 0, end: 3, text: 'abd', heading: '' },
      'is not its text',
    ],
    ['lost text', { start: 2, end: 4, text: 'cd', heading: '' }, 'text before 2 is lost'],
    ['a lost end', { start: 0, end: 2, text: 'ab', heading: '' }, 'text before 4 is lost'],
  ])('sees %s', (_case, chunk, fault) => {
    expect(faultsOf('abcd', [chunk], 100).join()).toContain(fault)
  })
})

/** A short form tells quadratic from linear as well: what is ten times shorter takes a hundredth of a quadratic pass. */
const LENGTH = isLong ? 3_000_000 : 300_000
/** Many times what any of these takes, and a small part of what a quadratic pass over any would. */
const MAX_MS = isLong ? 15_000 : 10_000

const many = (text: string, length = LENGTH) => text.repeat(Math.floor(length / text.length))

describe.each([
  ['one letter', many('a')],
  ['hashes', many('#')],
  ['headings', many('# a\n')],
  ['nested quotes', many('>', LENGTH / 10)],
  ['nested quotes with blanks', many('> ')],
  ['nested items', `${many('- ', LENGTH / 5)}x`],
  ['items', many('- a\n')],
  ['full stops', many('.')],
  ['exclamation marks before a letter', `${many('!')}a`],
  ['the shortest sentences', many('a. ')],
  ['fences that are never closed', many('```a\n')],
  ['one fence that is never closed', `\`\`\`\n${many('x y\n')}`],
  ['bars', many('|')],
  ['tables', many('|a|\n|-|\n')],
  ['underlined lines', many('a\n--\n')],
  ['open brackets in headings', many(`# ${'['.repeat(190)}\n`)],
  ['two letters far apart', `a${many(' ')}b`],
  ['an item with a far paragraph', `- a${many('\n')}  b`],
  ['ideographs', many('中', 0.3 * LENGTH)],
  ['Thai', many('สวัสดีชาวโลก', 0.3 * LENGTH)],
  ['families', many('👩‍👩‍👧‍👦', 0.3 * LENGTH)],
  ['marks without end', `a${many('\u0301', 0.3 * LENGTH)}`],
  ['halves of surrogate pairs', many('\ud83d', 0.3 * LENGTH)],
  ['NUL', many('\0')],
])('a long text of %s', (_case, text) => {
  it('become bounded chunks in bounded time', long, () => {
    const begun = processorMs()
    const chunks = splitText(text)
    expect(processorMs() - begun).toBeLessThan(MAX_MS)
    expect(chunks.length).toBeGreaterThan(0)
    const most = SPLIT_LIMITS.tokens + SPLIT_LIMITS.least
    const tooLong = chunks.filter(({ text: chunk }) => estimateTokens(chunk) > most)
    expect(tooLong).toHaveLength(0)
  })
})

describe.each([
  ['nothing', ''],
  ['line feeds', many('\n')],
  ['carriage returns', many('\r')],
  ['every kind of blank', many(' \t\r\n\u00a0\u1680\u2003\u2028\u3000\ufeff', LENGTH / 100)],
])('%s', (_case, text) => {
  it('has no chunks', () => {
    expect(splitText(text)).toEqual([])
  })
})
