import { AppError } from '@agent-server/lib/errors.ts'
import { z } from 'zod'

/** More would hide the first cause rather than explain it. */
const MAX_ISSUES = 5

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
  return error.issues.map(({ path, message }) => ({ field: path.join('.'), message }))
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
