/** A form has hundreds; what is beyond is left out. */
const MOST_FIELDS = 10_000
const LONGEST_VALUE = 10_000
/** What holds no words of whoever filled the form in. */
const WORDLESS = ['', 'button', 'signature']
const NOT_CHECKED = 'Off'

interface Field {
  name: string
  /** From 0; below where it is on none. */
  page: number
  type: string
  value: unknown
  password: boolean
  items: readonly unknown[]
}

/** The values of the filled fields of a form as `Name: value`, a line each, by the page that they are on, from 1. */
export function fieldsByPage(fields: Iterable<readonly unknown[]>): Map<number, string> {
  const pages = new Map<number, string[]>()
  const seen = new Set<string>()
  for (const widgets of fields) {
    for (const widget of widgets) {
      const field = toField(widget)
      const line = field && toLine(field)
      // A choice has a widget for each of its options.
      if (!line || seen.has(`${field.page} ${line}`) || seen.size >= MOST_FIELDS) continue
      seen.add(`${field.page} ${line}`)
      pages.set(field.page + 1, [...(pages.get(field.page + 1) ?? []), line])
    }
  }
  return new Map(Array.from(pages, ([page, lines]) => [page, lines.join('\n')]))
}

function toField(widget: unknown): Field | undefined {
  if (typeof widget !== 'object' || widget === null) return undefined
  const { name, page, type, value, password, items }: Partial<Record<keyof Field, unknown>> = widget
  if (typeof name !== 'string' || typeof page !== 'number' || typeof type !== 'string') {
    return undefined
  }
  const list = Array.isArray(items) ? items : []
  return { name, page, type, value, password: password === true, items: list }
}

function toLine({ name, page, type, value, password, items }: Field): string | undefined {
  if (page < 0 || password || WORDLESS.includes(type)) return undefined
  const values = (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string')
  const isBox = type === 'checkbox' || type === 'radiobutton'
  const shown = values
    .filter((one) => !(isBox && one === NOT_CHECKED))
    .map((one) => displayed(one, items))
    .join(', ')
  const words = shown.slice(0, LONGEST_VALUE).replaceAll(/\s+/g, ' ').trim()
  return words === '' ? undefined : `${plainName(name)}: ${words}`
}

/** As readers see it, where the form keeps something else for programs. */
function displayed(value: string, items: readonly unknown[]): string {
  for (const item of items) {
    if (typeof item !== 'object' || item === null) continue
    const { exportValue, displayValue }: { exportValue?: unknown; displayValue?: unknown } = item
    if (exportValue === value && typeof displayValue === 'string') return displayValue
  }
  return value
}

/** Without the numbers that some programs write behind each step of a name. */
function plainName(name: string): string {
  return name.replaceAll(/\[\d+\]/g, '').replaceAll(/\s+/g, ' ')
}
