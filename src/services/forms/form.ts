import { z } from 'zod'

export const FormField = z.object({
  name: z.string(),
  kind: z.enum(['text', 'checkbox', 'choice', 'number']),
  /** What a choice can be. */
  options: z.array(z.string()).optional(),
  required: z.boolean().optional(),
})

export const FormResult = z.object({
  fields: z.array(FormField),
  /** What does not fit the form, in words for the model; nothing is filled then. */
  mistakes: z.array(z.string()),
  unfilled: z.array(z.string()),
  bytes: z.instanceof(Uint8Array).optional(),
})

export type FormValue = string | number | boolean
export type FormValues = Readonly<Record<string, FormValue>>
export type FormKind = 'pdf' | 'docx' | 'text' | 'schema'
export type FormField = z.output<typeof FormField>
export type FormResult = z.output<typeof FormResult>

/** A form that was opened: its fields, and how to write values that fit them. */
export interface OpenedForm {
  fields: FormField[]
  fill(values: FormValues): Promise<Uint8Array>
  /** What else does not fit, beyond the kinds of the fields. */
  check?(values: FormValues): string[]
}

/** What is wrong with the values, one line for each. */
export function mistakesOf(fields: readonly FormField[], values: FormValues): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const field = fields.find((known) => known.name === name)
    if (!field) return [`There is no field "${name}"`]
    const mistake = mistakeOf(field, value)
    return mistake ? [`${name}: ${mistake}`] : []
  })
}

function mistakeOf({ kind, options = [] }: FormField, value: FormValue): string | undefined {
  if (kind === 'checkbox') return typeof value === 'boolean' ? undefined : 'must be true or false'
  if (kind === 'number') return typeof value === 'number' ? undefined : 'must be a number'
  if (kind === 'choice' && !options.includes(String(value))) {
    return `must be one of ${options.join(', ')}`
  }
  return undefined
}
