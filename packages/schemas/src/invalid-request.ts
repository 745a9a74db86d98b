import { AppError } from '@agent-server/lib/errors.ts'
import { z } from 'zod'

/** More would hide the first cause rather than explain it. */
const MAX_ISSUES = 5
/** How many of the kinds that a union takes are named. */
const MAX_KNOWN = 10

export interface Issue {
  /** As a dotted path; empty for the input as a whole. */
  field: string
  message: string
}

/** One error for everything that is wrong with an input; its `param` is the first field at fault. */
export function invalidRequest(issues: readonly Issue[], cause: unknown): AppError {
  const lines = issues
    .slice(0, MAX_ISSUES)
    .map(({ field, message }) => (field ? `${field}: ${message}` : message))
  const param = issues[0]?.field || undefined
  return new AppError('invalid_request', lines.join('; '), { param, cause })
}

/** Like `invalidRequest`, for one field. */
export function refusal(field: string, message: string): AppError {
  return invalidRequest([{ field, message }], undefined)
}

/** Like `invalidRequest`, for what a schema refused. */
export function refusalOf(error: z.ZodError): AppError {
  return invalidRequest(issuesOf(error), error)
}

/** Every issue that a schema found, with its field. */
export function issuesOf(error: z.ZodError): Issue[] {
  return fieldsOf(error.issues)
}

interface FoundIssue {
  path: readonly PropertyKey[]
  message: string
  code?: string | undefined
  /** The issues of each kind of a union. */
  errors?: unknown
}

export const fieldsOf = (issues: readonly FoundIssue[]): Issue[] =>
  issues
    .flatMap((issue) => meantIn(issue) ?? [issue])
    .map(({ path, message }) => ({ field: path.map(String).join('.'), message }))

/** The issues of the intended kind of a union, by its `type` or by what it is; undefined if that is not clear. */
function meantIn({ path, errors }: FoundIssue): FoundIssue[] | undefined {
  // What a union reports: its kinds, each with its issues.
  const kinds = Array.isArray(errors) ? (errors as FoundIssue[][]) : []
  const others = kinds.filter((issues) => !issues.some(isOfAnother))
  const [closest] = others
  if (!closest || others.length > 1 || others.length === kinds.length) return undefined
  return closest
    .map((issue) => ({ ...issue, path: [...path, ...issue.path] }))
    .flatMap((issue) => meantIn(issue) ?? [issue])
}

/** Whether an issue says that the input is of another kind: of another type, or text and no list. */
function isOfAnother({ path, code }: FoundIssue): boolean {
  if (path.length === 0) return code === 'invalid_type'
  return path.length === 1 && path[0] === 'type' && code !== 'invalid_union'
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

/** The unit in which a size is counted; a number's size is its value. */
const UNITS: Readonly<Record<string, string>> = {
  string: 'character',
  array: 'item',
  set: 'item',
}

/**
 * From now on, schemas without messages of their own refuse input in phrases that follow a field's name:
 * `topK: must be at most 100`. Issues that have no such phrase here keep Zod's message.
 */
export function installErrorMessages(): void {
  z.config({ customError: formatIssue })
}

function formatIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') {
    return issue.input === undefined ? 'is required' : formatKind(issue.expected)
  }
  if (issue.code === 'invalid_union') return formatUnion(issue)
  if (issue.code === 'invalid_value') return formatValues(issue.values)
  if (issue.code === 'too_small') {
    return formatBound(issue.origin, issue.inclusive ? 'at least' : 'more than', issue.minimum)
  }
  if (issue.code === 'too_big') {
    return formatBound(issue.origin, issue.inclusive ? 'at most' : 'less than', issue.maximum)
  }
  if (issue.code === 'unrecognized_keys') return `has unknown fields: ${issue.keys.join(', ')}`
  return undefined
}

/** Formats the issue of a union whose kinds differ in one field. */
function formatUnion(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>) {
  if (!issue.discriminator || !Array.isArray(issue.options)) return undefined
  if (Object(issue.input)[issue.discriminator] === undefined) return 'is required'
  const known: z.core.util.Primitive[] = issue.options.filter((value) => value !== undefined)
  const more = known.length - MAX_KNOWN
  return `${formatValues(known.slice(0, MAX_KNOWN))}${more > 0 ? ` or ${more} more` : ''}`
}

function formatKind(expected: string): string | undefined {
  const kind = KINDS[expected]
  return kind && `must be ${kind}`
}

function formatValues(values: readonly z.core.util.Primitive[]): string {
  const quoted = values.map((value) => (typeof value === 'string' ? `"${value}"` : String(value)))
  return quoted.length === 1 ? `must be ${quoted[0]}` : `must be one of ${quoted.join(', ')}`
}

function formatBound(origin: string, bound: string, limit: number | bigint): string {
  const unit = UNITS[origin]
  if (!unit) return `must be ${bound} ${limit}`
  if (Number(limit) !== 1) return `must have ${bound} ${limit} ${unit}s`
  return bound === 'at least' ? 'must not be empty' : `must have ${bound} 1 ${unit}`
}
