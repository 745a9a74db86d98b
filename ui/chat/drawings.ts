/** In UTF-16 code units; a longer one stays code. */
const MAX_DRAWING = 200_000
/** What drawings are written in; models say `xml` or `html`, too. */
const LANGUAGES = /^(?:svg|xml|html)$/i
const BEGINNING = /^(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)?<svg[\s>]/i
const END = '</svg>'
const NAMESPACE = 'http://www.w3.org/2000/svg'

/** Whether code is an SVG drawing as a whole. */
export function isDrawing(language: string, code: string): boolean {
  if (!LANGUAGES.test(language) || code.length > MAX_DRAWING) return false
  const text = code.trim()
  return BEGINNING.test(text) && text.slice(-END.length).toLowerCase() === END
}

/** As an image a drawing needs its namespace, which pages do without. */
export function asImage(code: string): string {
  const text = code.trim()
  const [tag = ''] = /<svg[^>]*>/i.exec(text) ?? []
  return /\sxmlns\s*=/.test(tag) ? text : text.replace(/<svg/i, `<svg xmlns="${NAMESPACE}"`)
}
