import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import fontkit from '@cantoo/fontkit'

const require = createRequire(import.meta.url)
const dejaVu = (name: string) => require.resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`)

/** Packages of 74 MB together, which an installation for production is without. */
const PACKAGES = [
  {
    name: '@embedpdf/fonts-sc',
    signs: /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Bopomofo}]/u,
  },
  { name: '@embedpdf/fonts-kr', signs: /\p{sc=Hangul}/u },
]

/** What to install for signs that no font here has; empty where that would not help. */
export function fontHint(signs: readonly string[]): string {
  const needed = PACKAGES.filter((one) => signs.some((sign) => one.signs.test(sign)))
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

/** The fonts that come with the server, or with a package beside it: what it draws does not depend on those of the machine. */
export const FONT_FILES = {
  /** Latin, Greek, Cyrillic, Armenian, Georgian, Hebrew, Arabic, symbols. */
  sans: dejaVu('DejaVuSans'),
  sansBold: dejaVu('DejaVuSans-Bold'),
  /** Chinese in both forms, Japanese, Latin, Greek, Cyrillic. */
  chinese: noto('sc', 'NotoSansHans-Regular'),
  /** Korean with many of its Chinese signs, Latin, Greek, Cyrillic. */
  korean: noto('kr', 'NotoSansKR-Regular'),
} as const

export interface LoadedFont {
  bytes: Uint8Array
  /** Whether the font draws a sign, which is one code point. */
  has(sign: string): boolean
}

export async function loadFont(path: string): Promise<LoadedFont> {
  const bytes = await readFile(path)
  const font = fontkit.create(bytes)
  if ('fonts' in font) throw new Error(`${path} holds several fonts`)
  return { bytes, has: (sign) => font.hasGlyphForCodePoint(sign.codePointAt(0) ?? 0) }
}

const MAX_LISTED = 10

/** The signs in words; of many, the first. */
export function listSigns(signs: readonly string[]): string {
  return signs.slice(0, MAX_LISTED).join(' ') + (signs.length > MAX_LISTED ? ' …' : '')
}
