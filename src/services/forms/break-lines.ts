/** Signs of scripts that are written without spaces. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u3000-\u303f\uff00-\uffef]/u
/** They never begin a line. */
const CLOSING = /[\p{Pe}\p{Pf}、。，．！？：；ー々％]/u
/** They never end one. */
const OPENING = /[\p{Ps}\p{Pi}]/u

/** Breaks lines where one that goes on would not fit: at spaces, and between any two signs of scripts without them. */
export function breakLines(text: string, fits: (line: string) => boolean): string[] {
  return text.split(/\r?\n/).flatMap((line) => breakLine(line, fits))
}

function breakLine(line: string, fits: (line: string) => boolean): string[] {
  const lines: string[] = []
  let current = ''
  for (const piece of piecesOf(line)) {
    if (current !== '' && !fits((current + piece).trimEnd())) {
      lines.push(current.trimEnd())
      current = ''
    }
    current += piece
  }
  return [...lines, current]
}

/** What stays together: words with their space, and single signs with the punctuation that belongs to them. */
function piecesOf(line: string): string[] {
  const pieces: string[] = []
  let before = ''
  for (const sign of line) {
    const last = pieces.length - 1
    if (last >= 0 && !mayBreak(before, sign)) pieces[last] += sign
    else pieces.push(sign)
    before = sign
  }
  return pieces
}

function mayBreak(before: string, sign: string): boolean {
  if (CLOSING.test(sign) || OPENING.test(before) || /\s/.test(sign)) return false
  return /\s/.test(before) || UNSPACED.test(before) || UNSPACED.test(sign)
}
