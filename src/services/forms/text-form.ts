import type { FormValues, OpenedForm } from './form.ts'

const PLACEHOLDER = /\{\{\s*([\p{L}\p{N}_. -]{1,100}?)\s*\}\}/gu

/** A text with `{{placeholders}}`, such as Markdown. */
export function openTextForm(text: string): OpenedForm {
  return {
    fields: placeholdersIn(text).map((name) => ({ name, kind: 'text' as const })),
    fill: async (values) => Buffer.from(fillPlaceholders(text, values)),
  }
}

export function placeholdersIn(text: string): string[] {
  return [...new Set([...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name))]
}

/** Those without a value stay as they are. */
export function fillPlaceholders(
  text: string,
  values: FormValues,
  write: (value: string) => string = (value) => value,
): string {
  return text.replaceAll(PLACEHOLDER, (placeholder, name: string) =>
    Object.hasOwn(values, name) ? write(String(values[name])) : placeholder,
  )
}
