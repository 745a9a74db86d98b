import { describe, expect, it } from 'vitest'
import { segmentsOf } from '../../../../src/services/ingestion/segments.ts'
import {
  type SplitContext,
  splitPiece,
  splitText,
} from '../../../../src/services/ingestion/split/split-text.ts'
import { randomText, seededRandom } from '../random-text.ts'

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
      const chunks = splitAll(segmentsOf([text], 5_000))
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
      ...{ headings: [], fence: undefined },
    })
  })

  it('takes the settings that begin a text for settings, and no others', () => {
    const text = '---\ntitle: x\n---\n\nText.'
    expect(splitPiece(text, undefined).chunks).toHaveLength(1)
    const context = { headings: [], fence: undefined }
    expect(splitPiece(text, context).context.headings).toEqual([{ level: 2, title: 'title: x' }])
  })
})
