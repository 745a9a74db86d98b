import {
  FONT_FILES,
  fontHint,
  type LoadedFont,
  listCharacters,
  loadFont,
} from '@agent-server/lib/text/fonts.ts'

/** In the order in which they are tried: the first that has all characters of a text draws it. */
const PATHS = [FONT_FILES.sans, FONT_FILES.chinese, FONT_FILES.korean].filter(
  (path) => path !== undefined,
)

/** Scripts whose rendering was checked by eye; others need shaping that was never checked. */
const CHECKED =
  /^[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Armenian}\p{sc=Georgian}\p{sc=Hebrew}\p{sc=Arabic}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}\p{sc=Common}\p{sc=Inherited}]$/u
/** Combining marks that do not compose with a letter would be placed where no reader expects them. */
const LOOSE_MARK = /\p{M}/u
/** Variation selectors, which only choose between forms of the preceding character. */
const CHOICE_OF_FORM = /[\ufe00-\ufe0f]/gu
const CONTROL = /(?![\t\n\r])\p{Cc}/gu

export type FormFonts = Awaited<ReturnType<typeof loadFormFonts>>

/** The text as drawn: letters composed with marks where possible, no variation selectors or control characters. */
export function toDrawn(text: string): string {
  return text.normalize('NFC').replaceAll(CHOICE_OF_FORM, '').replaceAll(CONTROL, '')
}

export async function loadFormFonts() {
  const fonts = await Promise.all(PATHS.map(loadFont))
  const missingFrom = (font: LoadedFont, text: string) =>
    distinct(text, (character) => character.trim() !== '' && !font.has(character))
  const best = (text: string) => {
    const ranked = fonts.map((font) => ({ font, missing: missingFrom(font, toDrawn(text)) }))
    return ranked.reduce((one, other) => (other.missing.length < one.missing.length ? other : one))
  }

  return {
    fontFor: (text: string): LoadedFont => best(text).font,
    /** Whether that is the first font, which draws most texts. */
    isDefault: (text: string) => best(text).font === fonts[0],
    /** Why the text would not be drawn as written; undefined if it would. */
    mistakeIn(text: string): string | undefined {
      const unchecked = distinct(toDrawn(text), (character) => !CHECKED.test(character))
      if (unchecked.length > 0) return `the script of ${listCharacters(unchecked)} cannot be drawn`
      const loose = distinct(toDrawn(text), (character) => LOOSE_MARK.test(character))
      if (loose.length > 0)
        return `the marks ${listCharacters(loose)} cannot be placed above or below letters`
      const { missing } = best(text)
      if (missing.length === 0) return undefined
      const unknown = missing.filter((character) =>
        fonts.every((font) => missingFrom(font, character).length > 0),
      )
      if (unknown.length > 0)
        return `the font has no glyph for ${listCharacters(unknown)}${fontHint(unknown)}`
      return `no single font has a glyph for all of it: ${listCharacters(missing)} needs another`
    },
  }
}

function distinct(text: string, matches: (character: string) => boolean): string[] {
  return [...new Set(text)].filter(matches)
}
