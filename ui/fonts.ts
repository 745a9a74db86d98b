import cyrillicExt from '@fontsource-variable/inter/files/inter-cyrillic-ext-wght-normal.woff2'
import cyrillic from '@fontsource-variable/inter/files/inter-cyrillic-wght-normal.woff2'
import greekExt from '@fontsource-variable/inter/files/inter-greek-ext-wght-normal.woff2'
import greek from '@fontsource-variable/inter/files/inter-greek-wght-normal.woff2'
import latinExt from '@fontsource-variable/inter/files/inter-latin-ext-wght-normal.woff2'
import latin from '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'
import vietnamese from '@fontsource-variable/inter/files/inter-vietnamese-wght-normal.woff2'
import ranges from '@fontsource-variable/inter/unicode.json'

const FILES: readonly [path: string, unicodeRange: string][] = [
  [latin, ranges.latin],
  [latinExt, ranges['latin-ext']],
  [vietnamese, ranges.vietnamese],
  [greek, ranges.greek],
  [greekExt, ranges['greek-ext']],
  [cyrillic, ranges.cyrillic],
  [cyrillicExt, ranges['cyrillic-ext']],
]

// The browser fetches a file once the page shows a character of its range, and shows another font until it is there.
for (const [path, unicodeRange] of FILES) {
  const url = new URL(path, import.meta.url).href
  const face = new FontFace('Inter', `url(${url})`, {
    weight: '100 900',
    display: 'swap',
    unicodeRange,
  })
  document.fonts.add(face)
}
