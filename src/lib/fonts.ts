import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import fontkit from '@cantoo/fontkit'

const require = createRequire(import.meta.url)
const dejaVu = (name: string) => require.resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`)
const noto = (script: 'sc' | 'kr', name: string) =>
  join(dirname(require.resolve(`@embedpdf/fonts-${script}`)), '../fonts', `${name}.otf`)

/** The fonts that come with the server: what it draws does not depend on those of the machine. */
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
