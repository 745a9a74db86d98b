import openapiTS, { astToString } from 'openapi-typescript'

const HEAD =
  '// Generated from /openapi.json by `npm run client:types`; a test compares the two. Do not edit.\n\n'

/** What is read of an OpenAPI document: only what it calls its shapes and its parameters. */
interface Contract {
  paths: Record<string, Record<string, { responses: Record<string, unknown> }>>
}

/**
 * The types of everything that an OpenAPI document describes, as the text of a TypeScript file. Refusals are left
 * out: all of them have the one shape `Error`.
 */
export async function contractTypes(document: Contract): Promise<string> {
  const paths = structuredClone(document.paths)
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
    const taken = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'))
    operation.responses = Object.fromEntries(taken)
  }
  const text = JSON.stringify({ ...document, paths })
  const options = {
    alphabetize: true,
    // What has a default may be left out of a request.
    defaultNonNullable: false,
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
  }
  return HEAD + astToString(await openapiTS(text, options))
}
