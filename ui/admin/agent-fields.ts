type Fields = Record<string, unknown>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What a text says as JSON; nothing while it is no object. */
export function readFields(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isFields(value) ? value : undefined
  } catch {
    // Somebody is writing it.
    return undefined
  }
}

/** The field below `path`, where there is one. */
export function fieldAt(fields: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (isFields(value) ? value[name] : undefined), fields)
}

/** The text with one field set, or taken out where the value is undefined; the order of all others stays. */
export function withField(text: string, path: readonly string[], value: unknown): string {
  const fields = readFields(text)
  return fields ? `${JSON.stringify(changed(fields, path, value), null, 2)}\n` : text
}

function changed(fields: Fields, [name = '', ...rest]: readonly string[], value: unknown): Fields {
  const before = fields[name]
  const after = rest.length === 0 ? value : changed(isFields(before) ? before : {}, rest, value)
  if (after !== undefined) return { ...fields, [name]: after }
  const { [name]: _, ...others } = fields
  return others
}
