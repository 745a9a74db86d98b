import openapiTS, { astToString } from 'openapi-typescript'

const HEAD =
  '// Generated from /openapi.json by `npm run client:types`; a test compares the two. Do not edit.\n\n'

/** The types of all shapes that an OpenAPI document names, as the text of a TypeScript file. */
export async function contractTypes(document: object): Promise<string> {
  const text = JSON.stringify({ ...document, paths: {} })
  const options = {
    alphabetize: true,
    // What has a default may be left out of a request.
    defaultNonNullable: false,
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
  }
  return HEAD + astToString(await openapiTS(text, options))
}
