import { z } from 'zod'
import { oneLine } from '../extracted.ts'

/** What of a PDF is used here. */
interface Form {
  getFieldObjects(): Promise<Map<string, unknown[]> | null>
}

/** Forms have hundreds of fields; any beyond this limit are left out. */
const MAX_FIELDS = 10_000
const MAX_VALUE = 10_000
/** Types of fields without text that somebody entered. */
const WORDLESS = ['', 'button', 'signature']
const NOT_CHECKED = 'Off'

/** A field as the parser gives it, as far as it is used here. */
const Field = z.object({
  name: z.string(),
  type: z.string(),
  page: z.int().min(0),
  value: z.unknown().optional(),
  password: z.unknown().optional(),
  /** The values of a choice that the form stores for programs, and what readers see. */
  items: z.array(z.unknown()).catch([]),
})
const Item = z.object({ exportValue: z.unknown().optional(), displayValue: z.string() })

/** The values of a form's filled fields as lines `Name: value`, by page number, from 1. */
export function fieldsByPage(fields: Iterable<readonly unknown[]>): Map<number, string> {
  const pages = new Map<number, Set<string>>()
  let count = 0
  for (const widget of Array.from(fields).flat()) {
    const field = Field.safeParse(widget).data
    const line = field && toFieldLine(field)
    if (!line || count++ >= MAX_FIELDS) continue
    const number = field.page + 1
    // A choice has a widget for each of its options.
    pages.set(number, (pages.get(number) ?? new Set()).add(line))
  }
  return new Map(Array.from(pages, ([page, lines]) => [page, [...lines].join('\n')]))
}

function toFieldLine({ name, type, value, password, items }: z.output<typeof Field>) {
  if (password === true || WORDLESS.includes(type)) return undefined
  const isBox = type === 'checkbox' || type === 'radiobutton'
  const words = [value]
    .flat()
    .filter((one) => typeof one === 'string')
    .filter((one) => !(isBox && one === NOT_CHECKED))
    .map((one) => displayed(one, items))
    .join(', ')
    .slice(0, MAX_VALUE)
  const text = oneLine(words)
  // Some programs append indices to each part of the name.
  const plainName = name.replaceAll(/\[\d+\]/g, '').replaceAll(/\s+/g, ' ')
  return text === '' ? undefined : `${plainName}: ${text}`
}

function displayed(value: string, items: readonly unknown[]): string {
  const choices = items.map((item) => Item.safeParse(item).data)
  return choices.find((item) => item?.exportValue === value)?.displayValue ?? value
}

/** The values of form fields are not part of the text of the pages. */
export async function readFields(pdf: Form): Promise<Map<number, string>> {
  try {
    return fieldsByPage((await pdf.getFieldObjects())?.values() ?? [])
  } catch {
    // Left out, like a broken page.
    return new Map()
  }
}
