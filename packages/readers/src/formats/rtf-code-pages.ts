/** The encodings of code pages, by the names of `TextDecoder`. */
const ENCODINGS: ReadonlyMap<number, string> = new Map([
  [866, 'ibm866'],
  [874, 'windows-874'],
  [932, 'shift_jis'],
  [936, 'gbk'],
  [949, 'euc-kr'],
  [950, 'big5'],
  ...Array.from({ length: 9 }, (_, i) => [1_250 + i, `windows-${1_250 + i}`] as const),
  [10_000, 'macintosh'],
  [10_007, 'x-mac-cyrillic'],
  [20_866, 'koi8-r'],
  [21_866, 'koi8-u'],
  ...[2, 3, 4, 5, 6, 7, 8, 13, 15].map((n) => [28_590 + n, `iso-8859-${n}`] as const),
  [28_591, 'windows-1252'],
  [50_220, 'iso-2022-jp'],
  [51_932, 'euc-jp'],
  [51_949, 'euc-kr'],
  [54_936, 'gb18030'],
  [65_001, 'utf-8'],
])
export const encodingOfCodePage = (codePage: number) => ENCODINGS.get(codePage)

/** That of Western Windows. */
export const WESTERN = 1_252
export const MACINTOSH = 10_000

/** The code pages of the character sets of fonts; those that are not here have that of the document. */
export const CODE_PAGE_OF_CHARSET: ReadonlyMap<number, number> = new Map([
  [77, MACINTOSH],
  [128, 932],
  [129, 949],
  [134, 936],
  [136, 950],
  [161, 1_253],
  [162, 1_254],
  [163, 1_258],
  [177, 1_255],
  [178, 1_256],
  [186, 1_257],
  [204, 1_251],
  [222, 874],
  [238, 1_250],
])

const RUN_BYTES = 4_096
const MAX_FONTS = 10_000

/** The fonts of the document and their code pages. */
export function createFonts() {
  const codePages = new Map<number, number>()
  const fonts = {
    current: 0,
    usual: 0,
    usualCodePage: WESTERN,
    codePageOf: (font: number) => codePages.get(font) ?? fonts.usualCodePage,
    /** The font that is current has this code page. */
    name(codePage: number | undefined): void {
      if (codePage !== undefined && codePages.size < MAX_FONTS)
        codePages.set(fonts.current, codePage)
    },
  }
  return fonts
}

/** Decodes bytes that come in pieces; a character may consist of several bytes. `onGuess` receives unknown code pages. */
export function createDecoder(onGuess: (codePage: number) => void) {
  const decoders = new Map<number, TextDecoder>()
  const run = Buffer.alloc(RUN_BYTES)
  let length = 0
  let codePage = WESTERN
  let text = ''

  const decoderOf = (page: number) => {
    const cached = decoders.get(page)
    if (cached) return cached
    const encoding = encodingOfCodePage(page)
    if (encoding === undefined) onGuess(page)
    const decoder = new TextDecoder(encoding ?? 'windows-1252')
    decoders.set(page, decoder)
    return decoder
  }
  const decode = (stream: boolean) => {
    const bytes = run.subarray(0, length)
    length = 0
    const isAscii = text === '' && !stream && bytes.every((byte) => byte < 0x80)
    return isAscii ? bytes.toString('latin1') : decoderOf(codePage).decode(bytes, { stream })
  }

  return {
    add(bytes: Uint8Array, page: number): void {
      codePage = page
      for (const byte of bytes) {
        if (length === run.length) text += decode(true)
        run[length++] = byte
      }
    },
    /** The text of all bytes since it was last taken. */
    take(): string {
      if (length === 0) return ''
      const all = text + decode(false)
      text = ''
      return all
    },
  }
}
