import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

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
