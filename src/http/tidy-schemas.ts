const REFERENCE = /"#\/components\/schemas\/([\w.-]+)"/g

/**
 * The type provider publishes an input and an output twin of every named schema (`Hit`, `HitInput`), used
 * or not, and closes every output object, which makes generated clients refuse fields of tomorrow. This
 * opens the objects, keeps one schema where the twins say the same or only one is used, and drops the rest.
 */
export function tidySchemas<Document extends object>(document: Document): Document {
  let text = JSON.stringify(document, openObjects)
  for (const name of schemaNames(text)) {
    const plain = name.replace(/Input$/, '')
    if (plain !== name && canShare(text, name, plain)) text = share(text, name, plain)
  }
  return withoutUnused(text)
}

interface Parsed {
  components: { schemas: Record<string, unknown> }
}

function openObjects(this: unknown, key: string, value: unknown): unknown {
  return key === 'additionalProperties' && value === false ? undefined : value
}

const schemasOf = (text: string) => (JSON.parse(text) as Parsed).components.schemas

const schemaNames = (text: string) => Object.keys(schemasOf(text))

function canShare(text: string, input: string, plain: string): boolean {
  const schemas = schemasOf(text)
  if (!(plain in schemas)) return true
  const normalised = (name: string) =>
    JSON.stringify(schemas[name]).replace(REFERENCE, (_, to: string) => to.replace(/Input$/, ''))
  return normalised(input) === normalised(plain) || !usedSchemas(text).has(plain)
}

function share(text: string, input: string, plain: string): string {
  const document: Parsed = JSON.parse(
    text.replaceAll(`"#/components/schemas/${input}"`, `"#/components/schemas/${plain}"`),
  )
  document.components.schemas[plain] = document.components.schemas[input]
  delete document.components.schemas[input]
  return JSON.stringify(document)
}

/** Every schema that a path reaches, directly or through another schema. */
function usedSchemas(text: string): Set<string> {
  const { components, ...rest } = JSON.parse(text) as Parsed
  const used = new Set<string>()
  const mark = (node: unknown) => {
    for (const [, name] of (JSON.stringify(node) ?? '').matchAll(REFERENCE)) {
      if (name === undefined || used.has(name)) continue
      used.add(name)
      mark(components.schemas[name])
    }
  }
  mark(rest)
  return used
}

function withoutUnused<Document>(text: string): Document {
  const used = usedSchemas(text)
  const document = JSON.parse(text)
  const kept = Object.entries(document.components.schemas).filter(([name]) => used.has(name))
  document.components.schemas = Object.fromEntries(kept)
  return document
}
