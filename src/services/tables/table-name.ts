const LONGEST_NAME = 48

/** Words that a statement reads as its own; a table of such a name would have to be quoted. */
const RESERVED = new Set(
  `all and any as asc between by case cast column create cross desc distinct else end except exists false
  for from full group having in inner intersect into is join left like limit natural not null offset on or
  order outer over pivot qualify right select table then true union unpivot using values when where window
  with`.split(/\s+/),
)

/** What a statement calls the table of a document with this title or file name. */
export function tableName(title: string): string {
  const slug = slugOf(title.replace(/\.[A-Za-z0-9]{1,8}$/, '')) || 'table'
  const begun = /^\d/.test(slug) ? `t_${slug}` : slug
  return RESERVED.has(begun) ? `${begun}_table` : begun
}

export function sheetName(table: string, sheet: string, index: number): string {
  return `${table}__${slugOf(sheet) || index + 1}`
}

/** Letters of any script stay: the engine takes them in names. */
function slugOf(text: string): string {
  const words = text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '_')
  return [...words]
    .slice(0, LONGEST_NAME)
    .join('')
    .replaceAll(/^_+|_+$/g, '')
}

/** Each name once: a later one that is taken gets a number. */
export function distinctNames(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    let [distinct, number] = [name, 2]
    while (taken.has(distinct)) distinct = `${name}_${number++}`
    taken.add(distinct)
    return distinct
  })
}
