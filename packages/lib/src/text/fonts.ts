import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import fontkit from '@cantoo/fontkit'

const require = createRequire(import.meta.url)
const dejaVu = (name: string) => require.resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`)

/** Optional packages, of 74 MB in all. */
const PACKAGES = [
  {
    name: '@embedpdf/fonts-sc',
    characters: /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Bopomofo}]/u,
  },
  { name: '@embedpdf/fonts-kr', characters: /\p{sc=Hangul}/u },
]

/** What to install for characters that no installed font has; empty if that would not help. */
export function fontHint(characters: readonly string[]): string {
  const needed = PACKAGES.filter((one) =>
    characters.some((character) => one.characters.test(character)),
  )
  const names = needed.map(({ name }) => name).filter((name) => packagePath(name) === undefined)
  return names.length === 0 ? '' : `; the server needs: npm install ${names.join(' ')}`
}

function packagePath(name: string): string | undefined {
  try {
    return dirname(require.resolve(name))
  } catch {
    return undefined
  }
}

function noto(script: 'sc' | 'kr', name: string): string | undefined {
  const path = packagePath(`@embedpdf/fonts-${script}`)
  return path && join(path, '../fonts', `${name}.otf`)
}

/** The fonts that ship with the server or an extra package: drawings do not depend on the machine's own fonts. */
export const FONT_FILES = {
  /** Latin, Greek, Cyrillic, Armenian, Georgian, Hebrew, Arabic, symbols. */
  sans: dejaVu('DejaVuSans'),
  sansBold: dejaVu('DejaVuSans-Bold'),
  /** Chinese in both forms, Japanese, Latin, Greek, Cyrillic. */
  chinese: noto('sc', 'NotoSansHans-Regular'),
  /** Korean with many of its Chinese characters, Latin, Greek, Cyrillic. */
  korean: noto('kr', 'NotoSansKR-Regular'),
} as const

export interface LoadedFont {
  bytes: Uint8Array
  /** Whether the font has a glyph for a character (one code point). */
  has(character: string): boolean
}

/** Loads the font at a path. Throws for a file of several fonts. */
export async function loadFont(path: string): Promise<LoadedFont> {
  const bytes = await readFile(path)
  const font = fontkit.create(bytes)
  if ('fonts' in font) throw new Error(`${path} holds several fonts`)
  return { bytes, has: (character) => font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0) }
}

const MAX_LISTED = 10

/** The characters as text; if there are many, only the first ten. */
export function listCharacters(characters: readonly string[]): string {
  return characters.slice(0, MAX_LISTED).join(' ') + (characters.length > MAX_LISTED ? ' …' : '')
}
