import type { Contract, ContractOperation } from '../contract.ts'
import { operationsOf } from '../contract.ts'
import { createTextFields } from './text-fields.ts'

export interface FieldRequest {
  path: string
  method: string
  body?: string | FormData
  headers?: Record<string, string>
}

/** A field of an operation, and the request that brings a text there. */
export interface OperationField {
  /** `chat body /messages/0/content`. */
  name: string
  /** How much of a repeated shape it takes at most. */
  lengthOf(shape: string): number
  request(text: string): FieldRequest
}

/** Of a URL, encoded, and of a header: Node.js takes 16 kB of both. */
const MAX_ENCODED = 12_000
/** A file of a form that no field names. */
const FILE = 'notes.md'
/** Filters within filters are the same field once more. */
const NESTED = /\/(and|or|not|filters)\b.*\/(and|or|not|filters)\b/
/** Kept open for what comes. */
const ENDLESS = /\bfollow\b/
/** So that background work of a request is its own. */
const WAIT = 'wait=20'

/** Every field of every operation of the contract that takes text; `ids` are path parameters that exist. */
export function fieldsOfOperations(
  contract: Contract,
  ids: (operation: ContractOperation, name: string) => string,
): OperationField[] {
  const { fieldsOf, sample } = createTextFields(contract)

  return operationsOf(contract).flatMap((operation) => {
    const { operationId, method, path, parameters, requestBody } = operation
    const known = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids(operation, name))
    const waits = parameters.some(({ name }) => name === 'wait') ? `?${WAIT}` : ''
    const content = Object.entries(requestBody?.content ?? {})
    const [media, first] = content[0] ?? []
    const named = (place: string) => `${operationId} ${place}`

    const ofParameters = parameters
      .filter(({ name }) => !ENDLESS.test(name))
      .flatMap((parameter) => {
        const [field] = fieldsOf(parameter.schema)
        if (!field) return []
        const body = media && first ? bodyOf(media, sample(first.schema)) : {}
        return {
          name: named(`${parameter.in} ${parameter.name}`),
          lengthOf: (shape: string) => Math.min(field.maxLength, encodable(shape)),
          request: (text: string) => ({
            method,
            ...body,
            ...withParameter(parameter, { path, known }, text, (name) => ids(operation, name)),
          }),
        }
      })

    const ofBody = content.flatMap(([media, { schema }]) =>
      fieldsOf(schema)
        .filter((field) => !NESTED.test(field.path))
        .map((field) => ({
          name: named(`${media} ${field.path}`),
          lengthOf: () => field.maxLength,
          request: (text: string) => ({
            method,
            path: `${known}${waits}`,
            ...bodyOf(media, field.put(text)),
          }),
        })),
    )
    return [...ofParameters, ...ofBody]
  })
}

/** How many characters of a repeated shape there may be in a URL. */
function encodable(shape: string): number {
  return Math.floor((MAX_ENCODED * shape.length) / encodeURIComponent(shape).length)
}

function withParameter(
  { name, in: place }: { name: string; in: string },
  { path, known }: { path: string; known: string },
  text: string,
  idOf: (name: string) => string,
): Pick<FieldRequest, 'path' | 'headers'> {
  const encoded = encodeURIComponent(text.toWellFormed())
  if (place === 'header') return { path: known, headers: { [name]: encoded } }
  if (place === 'query') return { path: `${known}?${name}=${encoded}` }
  return {
    path: path.replaceAll(/\{(\w+)\}/g, (_, each: string) =>
      each === name ? encoded : idOf(each),
    ),
  }
}

function bodyOf(media: string, value: unknown): Pick<FieldRequest, 'body' | 'headers'> {
  if (media === 'multipart/form-data') return { body: formOf(Object(value)) }
  const body = JSON.stringify(value)
  return { body, headers: { 'content-type': media } }
}

function formOf(value: Record<string, unknown>): FormData {
  const form = new FormData()
  for (const [name, each] of Object.entries({ file: 'Owls hoot.', ...value })) {
    if (name !== 'file') form.append(name, typeof each === 'string' ? each : JSON.stringify(each))
  }
  form.append('file', new Blob([String(value.file ?? 'Owls hoot.')]), FILE)
  return form
}
