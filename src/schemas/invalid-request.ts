import type { z } from 'zod'
import { AppError } from '../errors.ts'

/** More would hide the first cause, not explain it. */
const MAXIMUM_ISSUES = 5

interface Issue {
  /** As a dotted path; empty for the whole. */
  field: string
  message: string
}

/** What is wrong with an input, in one error that names the first field at fault. */
export function invalidRequest(issues: readonly Issue[], cause: unknown): AppError {
  const lines = issues
    .slice(0, MAXIMUM_ISSUES)
    .map(({ field, message }) => (field ? `${field}: ${message}` : message))
  const param = issues[0]?.field || undefined
  return new AppError('invalid_request', lines.join('; '), { param, cause })
}

/** As `invalidRequest`, of what a schema refused. */
export function refusalOf(error: z.ZodError): AppError {
  const issues = error.issues.map(({ path, message }) => ({ field: path.join('.'), message }))
  return invalidRequest(issues, error)
}
