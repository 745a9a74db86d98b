/** Reads a file's text out of the format that its name tells; nothing where the format is none of ours. */
export function toPlainText(name: string, source: string): string | undefined {
  const plain = name.replace(/\.gz$/, '')
  if (/\.html?$/.test(plain)) return fromHtml(source)
  if (/\.[1-9][a-z]*$/.test(plain)) return fromManual(source)
  if (/\.(txt|md|rst|pod|text|info)(-\d+)?$/.test(plain)) return source
  if (/(^|\/)(README|FAQ|HOWTO|TUTORIAL|NOTES)[^/.]*$/i.test(plain)) return source
  return undefined
}

const ENTITIES: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  mdash: '—',
  ndash: '–',
  hellip: '…',
}

function fromHtml(source: string): string {
  return source
    .replace(/<(script|style|head|nav|svg)\b[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<h([1-6])\b[^>]*>/gi, (_, level) => `\n\n${'#'.repeat(Number(level))} `)
    .replace(/<li\b[^>]*>/gi, '\n- ')
    .replace(/<\/?(p|div|pre|table|ul|ol|dl|section|h[1-6])\b[^>]*>/gi, '\n\n')
    .replace(/<(br|tr|dt|dd)\b[^>]*>/gi, '\n')
    .replace(/<[^>]*>/g, '')
    .replace(/&#(\d{1,6});/g, (_, code) => String.fromCodePoint(Number(code)))
    .replace(/&([a-z]+);/g, (entity, name) => ENTITIES[name] ?? entity)
    .replace(/[ \t]+\n/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/** Manual pages: headings become Markdown headings, macros and font changes go. */
function fromManual(source: string): string {
  return source
    .replace(/^[.']\s*\\".*\n/gm, '')
    .replace(/^\.\s*(SH|Sh) +"?(.*?)"?$/gm, '\n# $2\n')
    .replace(/^\.\s*(SS|Ss) +"?(.*?)"?$/gm, '\n## $2\n')
    .replace(/^\.\s*(PP|LP|P|TP|IP|HP|Pp|br|sp)\b.*$/gm, '')
    .replace(/^\.\s*[A-Za-z]{1,3} ?/gm, '')
    .replace(/\\f(\[\w*\]|\(\w\w|.)/g, '')
    .replace(/\\\*?\(../g, '')
    .replace(/\\([-&e|^%])/g, (_, escaped) => (escaped === '-' ? '-' : ''))
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}
