/** The mark before each word: U+2581. */
const WORD_START = '▁'
/** What an unknown character scores below the worst piece. */
const UNKNOWN_PENALTY = 10
const UNKNOWN = 3
/** They stand for no text. */
const CONTROL_PIECES = new Set(['<s>', '<pad>', '</s>', '<unk>', '<mask>'])

/** The normalisation of the reference is NFKC but for single characters: these are dropped, */
const DROPPED = String.raw`[\p{Cc}--[\0\t\n\f\r\x80-\x8e\x90-\x9e]]`
/** these become spaces, */
const SPACES = String.raw`[\t\n\f\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]`
/** and these stay as they are: the fullwidth tilde, and characters added after Unicode 10. */
const KEPT = String.raw`[\uff5e\u32ff\ua7f1-\ua7f4\uab69\u{10781}-\u{107ba}\u{1ccd6}-\u{1ccf9}\u{1e030}-\u{1e06d}\u{1f16c}\u{1f23b}\u{1fbf0}-\u{1fbf9}]`
const ALL_DROPPED = new RegExp(DROPPED, 'gv')
const ALL_SPACES = new RegExp(SPACES, 'gv')
const NORMALISED = new RegExp(`[^${DROPPED}${SPACES}${KEPT}]+`, 'gv')
/** A character with marks: the reference does not sort them, and joins at most this many characters at a time. */
const MARKED = /([^\p{M}\uff9e\uff9f]?[\p{M}\uff9e\uff9f]+)/u
const MAX_JOINED = 4
/** The end of the planes whose characters consist of others. */
const LAST_COMPOSED = 0x2_ffff

interface Piece {
  id: number
  score: number
}

/** Reads a piece and its score from each line; the line's number is the token's. */
function readPieces(vocabulary: string) {
  const pieces = new Map<string, Piece>()
  let [longest, lowest] = [0, 0]
  for (const [id, line] of vocabulary.trimEnd().split('\n').entries()) {
    const [piece = '', score = ''] = line.split('\t')
    if (CONTROL_PIECES.has(piece)) continue
    pieces.set(piece, { id, score: Math.fround(Number(score)) })
    longest = Math.max(longest, piece.length)
    lowest = Math.min(lowest, Math.fround(Number(score)))
  }
  return { pieces, longest, unknown: { id: UNKNOWN, score: lowest - UNKNOWN_PENALTY } }
}

/**
 * The unigram tokenizer of XLM-RoBERTa. Returns the same token ids as the reference (`nmt_nfkc` and `Unigram` of
 * https://github.com/google/sentencepiece), without those of begin and end.
 */
export function createUnigramTokenizer(vocabulary: string) {
  const { pieces, longest, unknown } = readPieces(vocabulary)

  /** The pieces that begin at `start`, with their ends; the unknown one if there is none of a single character. */
  function* piecesAt(word: string, start: number): Generator<Piece & { end: number }> {
    const first = start + ((word.codePointAt(start) ?? 0) > 0xffff ? 2 : 1)
    const last = Math.min(word.length, start + longest)
    yield { ...(pieces.get(word.slice(start, first)) ?? unknown), end: first }
    for (let end = first + 1; end <= last; end++) {
      const piece = pieces.get(word.slice(start, end))
      if (piece) yield { ...piece, end }
    }
  }

  /** For each end in a word, the last piece of those with the highest sum of scores (Viterbi). */
  function bestEnds(word: string) {
    const best: ({ id: number; score: number; start: number } | undefined)[] = []
    const extend = (start: number, before: number) => {
      for (const { id, score, end } of piecesAt(word, start)) {
        const sum = before + score
        if (sum > (best[end]?.score ?? -Infinity)) best[end] = { id, score: sum, start }
      }
    }
    extend(0, 0)
    for (let start = 1; start < word.length; start++) {
      const reached = best[start]
      if (reached) extend(start, reached.score)
    }
    return best
  }

  function tokensOf(word: string): number[] {
    const best = bestEnds(word)
    const ids: number[] = []
    for (let end = word.length; end > 0; ) {
      const { id, start } = best[end] ?? { id: UNKNOWN, start: 0 }
      // Unknown characters in a row are one token.
      if (id !== UNKNOWN || ids.at(-1) !== UNKNOWN) ids.push(id)
      end = start
    }
    return ids.reverse()
  }

  return {
    begin: 0,
    end: 2,
    unknown: UNKNOWN,
    tokenize: (text: string): number[] => {
      const words = normalise(text).split(' ').filter(Boolean)
      return words.flatMap((word) => tokensOf(WORD_START + word))
    },
  }
}

function normalise(text: string): string {
  const toNFKC = (run: string) =>
    run
      .split(MARKED)
      .map((part, place) => (place % 2 === 1 ? joinMarks(part) : part.normalize('NFKC')))
      .join('')
  return text.replace(NORMALISED, toNFKC).replace(ALL_DROPPED, '').replace(ALL_SPACES, ' ')
}

let decompositions: Set<string> | undefined

/** Joins the longest sequences that make a character, from left to right. */
function joinMarks(cluster: string): string {
  decompositions ??= findDecompositions()
  const characters = [...cluster]
  const parts = characters.map((character) => character.normalize('NFKD'))
  let text = ''
  for (let start = 0; start < characters.length; ) {
    let count = Math.min(MAX_JOINED, characters.length - start)
    const isKnown = () => decompositions?.has(parts.slice(start, start + count).join(''))
    while (count > 1 && !isKnown()) count--
    text += characters
      .slice(start, start + count)
      .join('')
      .normalize('NFKC')
    start += count
  }
  return text
}

/** What the characters that consist of several others consist of. */
function findDecompositions(): Set<string> {
  const characters = new Set<string>()
  for (let code = 0xa0; code <= LAST_COMPOSED; code++) {
    const character = String.fromCodePoint(code)
    const parts = character.normalize('NFKD')
    if (parts !== character && [...parts].length > 1) characters.add(parts)
  }
  return characters
}
