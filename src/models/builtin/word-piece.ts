/** Characters of a word; a longer one is unknown. */
const MAX_WORD = 100
const SPECIAL = /(\[(?:PAD|UNK|CLS|SEP|MASK)\])/
const CONTROL = /[^\P{C}\t\n\r\p{Cn}]|\ufffd/gu
const CHINESE =
  /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/gu
/** All of ASCII that is neither letter, digit, space nor control counts as punctuation. */
const WORDS = /[\p{P}$+<=>^`|~]|[^\p{P}$+<=>^`|~\p{White_Space}]+/gu

export type Tokenizer = ReturnType<typeof createTokenizer>

/**
 * The tokenizer of uncased BERT models: the numbers that the reference (`BertNormalizer`, `BertPreTokenizer` and
 * `WordPiece` of https://github.com/huggingface/tokenizers) gives to a text, without the marks around it.
 */
export function createTokenizer(vocabulary: readonly string[]) {
  const numbers = new Map(vocabulary.map((token, number) => [token, number]))
  const numberOf = (token: string) => {
    const number = numbers.get(token)
    if (number === undefined) throw new Error(`The vocabulary lacks ${token}`)
    return number
  }
  const unknown = numberOf('[UNK]')

  const longestPiece = (characters: readonly string[], start: number) => {
    const mark = start === 0 ? '' : '##'
    for (let end = characters.length; end > start; end--) {
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
      .replace(/\p{Mn}/gu, '')
      // One character at a time, as the reference does: no final sigma.
      .replace(/Σ/g, 'σ')
      .toLowerCase()
  )
}
