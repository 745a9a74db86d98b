/** Maximum length of a word, in characters; longer words are unknown tokens. */
const MAX_WORD = 100
const SPECIAL = /(\[(?:PAD|UNK|CLS|SEP|MASK)\])/
const CHINESE =
  /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/gu
/** Marks and signs added after Unicode 8, on whose tables the reference is based: it treats them like letters. */
const NEWER = String.raw`\u061d\u07fd\u0890-\u08e2\u09fd-\u09fe\u0a76\u0afa-\u0aff\u0b55\u0c04-\u0c3c\u0c77\u0c84\u0d00\u0d3b-\u0d3c\u0d81\u0eba\u0ece\u180f-\u1886\u1abf-\u1aeb\u1b4e-\u1b4f\u1b7d-\u1b7f\u1df6-\u1dfb\u2e43-\u2e5d\ua82c\ua8c5\ua8ff\ua9bd\u{10d24}-\u{10f89}\u{11070}-\u{11074}\u{110c2}-\u{110cd}\u{111cf}\u{1123e}-\u{11241}\u{1133b}\u{113bb}-\u{1145e}\u{11660}-\u{1166c}\u{116b9}\u{1182f}-\u{11fff}\u{12ff1}-\u{1612f}\u{16d6d}-\u{16f4f}\u{16fe2}-\u{16fe4}\u{1cf00}-\u{1cf46}\u{1e000}-\u{1e6f5}\u{1e944}-\u{1e95f}`
const CONTROL = new RegExp(String.raw`[[\p{C}\ufffd]--[\p{Cn}\t\n\r${NEWER}]]`, 'gv')
/** Includes two characters that were marks in Unicode 8; excludes one that was punctuation, see `SIGN`. */
const MARK = new RegExp(String.raw`[[\p{Mn}\u1734\u{1171e}]--[${NEWER}\u{111c9}]]`, 'gv')
/** Punctuation, as of Unicode 8, and all ASCII characters but letters, digits, spaces and control characters. */
const SIGN = String.raw`[[\p{P}$+<=>^\u0060\|~\u166d\u{111c9}]--[${NEWER}]]`
const WORDS = new RegExp(String.raw`${SIGN}|[\P{White_Space}--${SIGN}]+`, 'gv')

/**
 * The tokenizer of uncased BERT models. Returns the same token ids as the reference (`BertNormalizer`,
 * `BertPreTokenizer` and `WordPiece` of https://github.com/huggingface/tokenizers), without `[CLS]` and `[SEP]`. Throws
 * an Error if the vocabulary lacks a special token.
 */
export function createTokenizer(vocabulary: readonly string[]) {
  const numbers = new Map(vocabulary.map((token, number) => [token, number]))
  const numberOf = (token: string) => {
    const number = numbers.get(token)
    if (number === undefined) throw new Error(`The vocabulary lacks ${token}`)
    return number
  }
  const unknown = numberOf('[UNK]')
  const longest = Math.max(...vocabulary.map((token) => token.length))

  const longestPiece = (characters: readonly string[], start: number) => {
    const mark = start === 0 ? '' : '##'
    for (let end = Math.min(characters.length, start + longest); end > start; end--) {
      const number = numbers.get(mark + characters.slice(start, end).join(''))
      if (number !== undefined) return { number, end }
    }
    return undefined
  }

  const piecesOf = (word: string): number[] => {
    const characters = [...word]
    if (characters.length > MAX_WORD) return [unknown]
    const pieces: number[] = []
    for (let start = 0; start < characters.length; ) {
      const piece = longestPiece(characters, start)
      if (!piece) return [unknown]
      pieces.push(piece.number)
      start = piece.end
    }
    return pieces
  }

  return {
    begin: numberOf('[CLS]'),
    end: numberOf('[SEP]'),
    unknown,
    tokenize: (text: string): number[] =>
      text.split(SPECIAL).flatMap((part, place) => {
        if (place % 2 === 1) return [numberOf(part)]
        return normalise(part).match(WORDS)?.flatMap(piecesOf) ?? []
      }),
  }
}

function normalise(text: string): string {
  return (
    text
      .replace(CONTROL, '')
      .replace(CHINESE, ' $& ')
      .normalize('NFD')
      .replace(MARK, '')
      // The reference lowercases each character on its own, so there is no final sigma.
      .replace(/Σ/g, 'σ')
      .toLowerCase()
  )
}
