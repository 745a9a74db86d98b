import { oneLine } from '../extracted.ts'

/** UTF-16 code units of an entry. */
const MAX_ENTRY = 2_000

export interface FormField {
  isCheckbox: boolean
  /** Whether it is ticked, or which entry is chosen; `UNSET` for what the form has at first. */
  result: number
  first: number
  entries: string[]
}

const UNSET = 25
const MAX_ENTRIES = 1_000

export const newForm = (): FormField => ({
  isCheckbox: false,
  result: UNSET,
  first: 0,
  entries: [],
})

/** Returns whether there is room for an entry. */
export function beginEntry(form: FormField | undefined): boolean {
  if (!form || form.entries.length >= MAX_ENTRIES) return false
  form.entries.push('')
  return true
}

export function addEntry(form: FormField | undefined, text: string): void {
  const last = (form?.entries.length ?? 0) - 1
  if (form && last >= 0) form.entries[last] = `${form.entries[last]}${text}`.slice(0, MAX_ENTRY)
}

/** What is ticked or chosen. */
export function resultOf({ isCheckbox, result, first, entries }: FormField): string {
  const value = result === UNSET ? first : result
  if (isCheckbox) return value === 1 ? '[x] ' : '[ ] '
  return entries[value] ?? ''
}

/** UTF-16 code units of what stands above and below the pages. */
const MAX_FURNITURE = 20_000

/** What stands above and below every page, each line once. */
export function createFurniture() {
  const texts = { header: '', footer: '' }
  return {
    add(place: keyof typeof texts, text: string): void {
      if (texts[place].length < MAX_FURNITURE) texts[place] += text
    },
    lines: (): string[] =>
      Object.entries(texts).flatMap(([place, text]) => {
        const lines = new Set(text.split('\n').map(oneLine).filter(Boolean))
        return lines.size === 0 ? [] : [`Page ${place}: ${[...lines].join(' | ')}`]
      }),
  }
}
