import { z } from 'zod'

/** The same type, but clients may also send null. */
type OrNull<Schema extends z.ZodType> = z.ZodType<z.output<Schema>, z.input<Schema> | null>

/** A field that may be left out or null: many clients send null for what they leave out. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  const withNull: unknown = schema.nullish().overwrite((value) => value ?? undefined)
  // A transformation would have the right type, but the contract would lose the examples.
  return withNull as z.ZodOptional<OrNull<Schema>>
}

/** Like `optional`, but with a default value. */
export function optionalOr<Schema extends z.ZodType>(
  schema: Schema,
  value: z.util.NoUndefined<z.output<Schema>>,
) {
  const withNull: unknown = schema
    .nullable()
    .default(value)
    .overwrite((input) => input ?? value)
  return withNull as z.ZodDefault<OrNull<Schema>>
}

/** A known parameter that is not supported: refused, because ignoring it would answer another request. */
export const unsupported = (why: string) =>
  z.null(`is not supported: ${why}`).optional().describe(`Not supported: ${why}.`)

/**
 * Makes text storable anywhere: a lone surrogate becomes U+FFFD and a NUL a space. Each replaces one code unit by
 * one, so offsets into the text still hold.
 */
export function toStorable(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', ' ')
}

/** A string of at most `maximum` UTF-16 code units that is safe to store. */
export function boundedText(maximum: number) {
  return z.string().max(maximum).overwrite(toStorable)
}

/** Like `boundedText`, but refuses text of white space only. */
export function filledText(maximum: number) {
  return (
    boundedText(maximum)
      .refine((text) => text.trim() !== '', { message: 'must not be empty' })
      // For those who match from the beginning only, or the whole, too.
      .meta({ minLength: 1, pattern: '^\\s*\\S[\\s\\S]*$' })
  )
}

/** Letters with accents as one character each, so that a name is equal to itself however it was typed. */
export const composed = (text: string) => text.normalize('NFC')

/** A count from 1 on; more than `maximum` counts as `maximum` and is not refused. */
export function countUpTo(maximum: number) {
  return z
    .int()
    .min(1)
    .overwrite((count) => Math.min(count, maximum))
}

/** Parses JSON in a string of at most `maximum` UTF-16 code units; refuses anything else with `message`. */
export function jsonText(maximum: number, message: string) {
  return z
    .string()
    .max(maximum)
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text)
      } catch {
        context.addIssue({ code: 'custom', message })
        return z.NEVER
      }
    })
}

/** A boolean in a query string. */
export const Flag = z.enum(['true', 'false']).transform((value) => value === 'true')

/** Levels of nesting; serialising deeper objects as JSON would overflow the stack. */
const MAX_DEPTH = 100

/** An object whose fields are not ours to check, passed on as it is. */
export function freeObject() {
  return z.record(z.string(), z.unknown()).refine((value) => !isDeeperThan(value, MAX_DEPTH), {
    message: `must not be deeper than ${MAX_DEPTH} levels`,
  })
}

function isDeeperThan(value: unknown, maximum: number): boolean {
  let level = [value]
  for (let depth = 0; depth <= maximum; depth += 1) {
    level = level.flatMap(childrenOf)
    if (level.length === 0) return false
  }
  return true
}

function childrenOf(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : []
}
