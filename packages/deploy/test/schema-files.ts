import { readFileSync } from 'node:fs'
import type { ValidateFunction } from 'ajv'

/** What the tools' own authors publish, where it lies beside the project. */
export const SCHEMAS = new URL('../../../../shared/schemas/', import.meta.url)
export const OPTIONS = {
  strict: false,
  allErrors: true,
  validateFormats: false,
  validateSchema: false,
}

export function readSchema(name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(new URL(name, SCHEMAS), 'utf8'))
}

export function mistakesOf(isRight: ValidateFunction, value: unknown): string[] {
  if (isRight(value)) return []
  return (isRight.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}
