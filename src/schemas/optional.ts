import type { z } from 'zod'

/** The same type, which takes null from clients, too. */
type OrNull<Schema extends z.ZodType> = z.ZodType<z.output<Schema>, z.input<Schema> | null>

/** What may be left out of a request, or be null: many clients send null for what they leave out. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  const withNull: unknown = schema.nullish().overwrite((value) => value ?? undefined)
  // A transformation, whose type would tell that null is gone, would cost the contract its examples.
  return withNull as z.ZodOptional<OrNull<Schema>>
}

/** The same with a value that holds then. */
export function optionalOr<Schema extends z.ZodType>(
  schema: Schema,
  value: z.util.NoUndefined<z.output<Schema>>,
) {
  const withNull: unknown = schema
    .nullable()
    .default(value)
    .overwrite((given) => given ?? value)
  return withNull as z.ZodDefault<OrNull<Schema>>
}
