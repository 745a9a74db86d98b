import { describe, expect, it } from 'vitest'
import { SPLIT_LIMITS } from '../../../../src/services/ingestion/split/pack-units.ts'
import { splitText } from '../../../../src/services/ingestion/split/split-text.ts'
import { estimateTokens } from '../../../../src/services/ingestion/split/tokens.ts'

const LENGTH = 10_000_000
/** Many times what any of these takes, and a small part of what a quadratic pass over any would. */
const MAX_MS = 20_000

const many = (text: string, length = LENGTH) => text.repeat(Math.floor(length / text.length))

describe.each([
  ['one letter', many('a')],
  ['hashes', many('#')],
  ['headings', many('# a\n')],
  ['a million nested quotes', many('>', 1_000_000)],
  ['nested quotes with blanks', many('> ')],
  ['a million nested items', `${many('- ', 2_000_000)}x`],
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
  ['ideographs', many('中', 3_000_000)],
  ['Thai', many('สวัสดีชาวโลก', 3_000_000)],
  ['families', many('👩‍👩‍👧‍👦', 3_000_000)],
  ['marks without end', `a${many('\u0301', 3_000_000)}`],
  ['halves of surrogate pairs', many('\ud83d', 3_000_000)],
  ['NUL', many('\0')],
])('ten megabytes of %s', (_case, text) => {
  it('become bounded passages in bounded time', () => {
    const begun = performance.now()
    const chunks = splitText(text)
    expect(performance.now() - begun).toBeLessThan(MAX_MS)
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
  ['every kind of blank', many(' \t\r\n\u00a0\u1680\u2003\u2028\u3000\ufeff', 100_000)],
])('%s', (_case, text) => {
  it('has no passages', () => {
    expect(splitText(text)).toEqual([])
  })
})
