import { z } from 'zod'

/** What people read about a variable, besides its label; the files that `npm run settings:reference` writes are made of these. */
export interface Description {
  group: string
  /** Whether it is one of the few that most people need. */
  isCommon?: boolean
  /** The value that `.env.example` sets; without one it shows the default, commented out. */
  example?: string
  meaning: string
}

type Unit = 'bytes' | 'seconds' | 'tokens'
/** What the web UI calls a variable, and what its number counts. */
type Label = string | readonly [string, Unit]

/** Variables by name, each as a schema of the text that the environment holds. */
export type VariableShape = Readonly<Record<string, z.ZodType>>
/** What they mean; of no variables, any object. */
export type VariableValues<Shape extends VariableShape> = [keyof Shape] extends [never]
  ? object
  : Readonly<z.output<z.ZodObject<Shape>>>
/** All members of a union in one type. */
type AllOf<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never

/** What several parts of the server name, such as their variables, in one object. */
export function allOf<Part extends object>(parts: readonly Part[]): AllOf<Part> {
  return Object.assign({}, ...parts)
}

export type Labels<Shape> = Readonly<Record<keyof Shape, Label>>

const DESCRIPTIONS = new Map<z.core.$ZodType, Description>()
const RANGES = new Map<z.core.$ZodType, string>()

/** A function that describes variables of a group. */
export const group =
  (name: string) =>
  <Schema extends z.ZodType>(
    schema: Schema,
    meaning: string,
    more: Pick<Description, 'isCommon' | 'example'> = {},
  ): Schema => {
    DESCRIPTIONS.set(schema, { group: name, meaning, ...more })
    return schema
  }

export const number = (minimum: number, maximum: number) => {
  const schema = z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(minimum).max(maximum))
  RANGES.set(schema, `${minimum} to ${maximum}`)
  return schema
}

export const oneOf = <Value extends string>(values: readonly Value[]) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` })

export const onOrOff = () => oneOf(['on', 'off']).default('on')

export const list = (
  fits: (entries: string[]) => boolean,
  error: string,
  separator: string | RegExp = ',',
) =>
  z
    .string()
    .transform((text) => text.split(separator).map((entry) => entry.trim()))
    .refine(fits, { error })
    .optional()

export const httpUrl = z.url({
  protocol: /^https?$/,
  error: 'must be a URL that begins with http:// or https://',
})

/** One URL, or several of interchangeable servers, such as the nodes of a cluster. */
export const httpUrls = z
  .string()
  .refine(
    (text) => text.split(',').every((url) => httpUrl.safeParse(url.trim()).success),
    'must be a URL that begins with http:// or https://, or several, separated by commas',
  )

// Anything else cannot be sent in an HTTP header.
export const KEY = [/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces'] as const
export const upstreamKey = () =>
  z
    .string()
    .regex(...KEY)
    .optional()
export const name = () => z.string().max(256).optional()

export const descriptionOf = (schema: z.core.$ZodType): Description =>
  DESCRIPTIONS.get(schema) ?? { group: '', meaning: '' }

/** The least and the greatest number; empty if it is none. */
export const rangeOf = (schema: z.core.$ZodType): string => RANGES.get(unwrapped(schema)) ?? ''

/** Without what says that it may be absent. */
function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  const isWrapped =
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodOptional
  return isWrapped ? unwrapped(schema.unwrap()) : schema
}

export function choicesOf(schema: z.core.$ZodType): readonly string[] {
  const plain = unwrapped(schema)
  return plain instanceof z.ZodEnum ? plain.options.map(String) : []
}
