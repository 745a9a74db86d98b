import { isBlank, isDigit, isLineBreak } from '@agent-server/lib/markdown/characters.ts'

/** Full stops that need no whitespace after them: CJK, Arabic, Indic, Ethiopic, Burmese, Khmer, Tibetan. */
const FREE_STANDING = '。！？．｡।॥۔؟።၊။។༎།'
/** Marks that may follow a terminator and belong to its sentence. */
const CONTINUES_END = `${FREE_STANDING}.!?…‽"'”’»›)]}」』）】》〉*_\``

const NO_END_BEFORE_ANYTHING = new Set(
  'dr mr mrs ms prof st jr vs cf approx ca bzw hr fr mme mlle sra gen col capt lt sgt rev hon gov sen rep dept est viz resp incl excl bd hrsg'.split(
    ' ',
  ),
)
const NO_END_BEFORE_NUMBER = new Set(
  'no nos nr fig figs eq eqs sec ch chap vol p pp pg art abs pág núm tab ref refs jan feb mar apr jun jul aug sep sept oct nov dec ver'.split(
    ' ',
  ),
)
const NO_END_BEFORE_LOWER_CASE = new Set('etc al inc ltd co corp sr usw ff ed eds op'.split(' '))
const MAX_ABBREVIATION = 6
/** Keeps a run of marks from being scanned again for each of them. */
const MAX_CLOSING_MARKS = 8

/** Whether a sentence can end with this character. Called for every character of a text. */
export function isTerminator(code: number): boolean {
  if (code < 0x589) return code === 0x2e || code === 0x21 || code === 0x3f
  return code === 0x2026 || code === 0x203d || FREE_STANDING_CODES.has(code)
}

const FREE_STANDING_CODES = new Set(Array.from(FREE_STANDING, (mark) => mark.charCodeAt(0)))

/** The end, closing marks included, of the sentence with its terminator at `index`; -1 if none. */
export function findSentenceEnd(text: string, index: number, limit: number): number {
  const latest = Math.min(limit, index + 1 + MAX_CLOSING_MARKS)
  let end = index + 1
  let freeStanding = FREE_STANDING_CODES.has(text.charCodeAt(index))
  while (end < latest && CONTINUES_END.includes(text.charAt(end))) {
    if (FREE_STANDING_CODES.has(text.charCodeAt(end))) freeStanding = true
    end++
  }
  if (end >= limit || freeStanding) return end
  if (!isBlank(text.charCodeAt(end))) return -1
  return goesOn(text, index, end) ? -1 : end
}

/** Whether the apparent end is an abbreviation or a quotation within a sentence. */
function goesOn(text: string, index: number, end: number): boolean {
  if (end === index + 1) return text[index] === '.' && isAbbreviation(text, index)
  return `"'”’»`.includes(text.charAt(end - 1)) && isLowerCase(followingCharacter(text, end))
}

function isAbbreviation(text: string, stop: number): boolean {
  const start = wordStart(text, stop)
  const length = stop - start
  if (length < 1 || length > MAX_ABBREVIATION) return false
  if (length === 1) return !isDigit(text.charCodeAt(start)) && isLetter(text.charAt(start))
  const word = text.slice(start, stop).toLowerCase()
  if (NO_END_BEFORE_ANYTHING.has(word)) return true
  const next = followingCharacter(text, stop + 1)
  if (NO_END_BEFORE_NUMBER.has(word)) return isDigit(next.charCodeAt(0))
  return NO_END_BEFORE_LOWER_CASE.has(word) && isLowerCase(next)
}

/** Looks back at most one character further than the longest abbreviation. */
function wordStart(text: string, end: number): number {
  const earliest = Math.max(0, end - MAX_ABBREVIATION - 1)
  let start = end
  while (start > earliest && isWordCharacter(text.charAt(start - 1))) start--
  return start
}

function followingCharacter(text: string, index: number): string {
  const latest = index + 4
  let position = index
  while (position < latest && isBlank(text.charCodeAt(position))) position++
  return text.charAt(position)
}

function isWordCharacter(character: string): boolean {
  return isLetter(character) || isDigit(character.charCodeAt(0))
}

function isLetter(character: string): boolean {
  return character.toLowerCase() !== character.toUpperCase()
}

function isLowerCase(character: string): boolean {
  return character !== character.toUpperCase()
}

/** Whether the whitespace between two sentences contains a line break. */
export function hasLineBreak(text: string, start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    if (isLineBreak(text.charCodeAt(index))) return true
  }
  return false
}
