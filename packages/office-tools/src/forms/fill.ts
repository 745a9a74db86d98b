import {
  type FormKind,
  type FormResult,
  FormSchema,
  type FormValues,
  mistakesOf,
  type OpenedForm,
  openSchemaForm,
  openTextForm,
} from './form.ts'

interface FormJob {
  kind: FormKind
  bytes: Uint8Array
  values: FormValues
}

/** Returns the fields of a form and, if all values fit, the filled form. Throws `Refusal` for what is not a form. */
export async function fillForm({ kind, bytes, values }: FormJob): Promise<FormResult> {
  const form = await open(kind, bytes)
  const wrong = mistakesOf(form.fields, values)
  const mistakes = wrong.length > 0 ? wrong : (form.check?.(values) ?? [])
  const unfilled = form.fields
    .map(({ name }) => name)
    .filter((name) => !Object.hasOwn(values, name))
  const result = { fields: form.fields, mistakes, unfilled }
  if (mistakes.length > 0 || Object.keys(values).length === 0) return result
  return { ...result, bytes: new Uint8Array(await form.fill(values)) }
}

/** Each library is loaded when a form needs it. */
async function open(kind: FormKind, bytes: Uint8Array): Promise<OpenedForm> {
  if (kind === 'pdf') return (await import('./pdf-form.ts')).openPdfForm(bytes)
  if (kind === 'docx') return (await import('./docx-form.ts')).openDocxForm(bytes)
  const text = Buffer.from(bytes).toString('utf8')
  return kind === 'schema' ? openSchemaForm(FormSchema.parse(JSON.parse(text))) : openTextForm(text)
}
