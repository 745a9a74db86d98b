import { describe, expect, it } from 'vitest'
import {
  estimateTokens,
  SPLIT_LIMITS,
} from '../../../../src/services/ingestion/split/pack-units.ts'
import { splitText } from '../../../../src/services/ingestion/split/split-text.ts'
import { isLong, long } from '../../../support/long.ts'
import { processorMs } from '../../../support/processor-time.ts'

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
