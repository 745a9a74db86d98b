import { splitText } from '../../../src/documents/ingestion/split/split-text.ts'
import type { SeededRandom } from './seeded-random.ts'

/** `adding` and `deleting`: asked for and not answered, so either outcome is right. */
export type Standing = 'adding' | 'kept' | 'deleting' | 'deleted'

/** A document as its client knows it. */
export interface Entry {
  /** A word of this document alone, in each of its sentences; also its title. */
  token: string
  text: string
  /** How many chunks the text is split into. */
  chunks: number
  standing: Standing
  /** Known once it is acknowledged or found. */
  id: string
}

/** What a client knows of its documents. */
export interface ExpectedDocuments {
  readonly entries: readonly Entry[]
  in(...standings: Standing[]): Entry[]
  /** A new document, `adding`. */
  begin(): Entry
  /** The entry was refused: there is no such document. */
  drop(entry: Entry): void
}

const WORDS =
  `water stone river market engine window letter garden copper signal winter harbour paper
  bridge silver forest kitchen method number border captain village season journey`.split(/\s+/)
/** Of four documents one is large: kills meet documents half done, and 500 make the index write while it works. */
const LARGE_SHARE = 0.25
const SENTENCES = { small: { least: 1, most: 60 }, large: { least: 900, most: 1_300 } }

export function createExpectedDocuments(random: SeededRandom): ExpectedDocuments {
  const entries: Entry[] = []
  return {
    entries,
    in: (...standings) => entries.filter(({ standing }) => standings.includes(standing)),
    begin() {
      const token = tokenOf(entries.length)
      const text = writeText(token, random)
      const chunks = splitText(text).length
      const entry: Entry = { token, text, chunks, standing: 'adding', id: '' }
      entries.push(entry)
      return entry
    },
    drop(entry) {
      entry.standing = 'deleted'
    },
  }
}

/** Letters only, and nothing that a stemmer would cut. */
function tokenOf(number: number): string {
  const digits = number.toString(26).padStart(4, '0')
  const letters = Array.from(digits, (digit) =>
    String.fromCharCode('a'.charCodeAt(0) + Number.parseInt(digit, 26)),
  )
  return `zq${letters.join('')}q`
}

function writeText(token: string, random: SeededRandom): string {
  const { least, most } = SENTENCES[random.chance(LARGE_SHARE) ? 'large' : 'small']
  return writeSentences(`In ${token}`, random.between(least, most), random)
}

/** So many sentences that begin alike and go on differently. */
export function writeSentences(beginning: string, count: number, random: SeededRandom): string {
  const sentences = Array.from({ length: count }, (_, position) => {
    const words = Array.from({ length: random.between(6, 14) }, () => random.pick(WORDS))
    return `${beginning} the ${position}th ${words.join(' ')}.`
  })
  return sentences.join(' ')
}
