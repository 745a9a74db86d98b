import type { z } from 'zod'

/** A small value that records what has been accepted before. */
export interface LockFile<Content> {
  /** The current value, whichever server changed it last. */
  read(): Promise<Content>
  /**
   * Returns the changed value once it is durable; a change that fails has no effect. `change` is called again if
   * another server has changed the value in the meantime.
   */
  update(change: (content: Content) => Content): Promise<Content>
}

/** Parses the content of a lock file. Throws an Error beginning with `refusal` if it is invalid. */
export function parseLockFile<Schema extends z.ZodType>(
  text: string,
  schema: Schema,
  refusal: string,
): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(text))
  } catch (cause) {
    throw new Error(`${refusal}; mend it or remove it`, { cause })
  }
}

/**
 * Opens a lock file by its name, of letters and hyphens; one that does not exist yet has the value `initial`. Invalid
 * content throws, here or when it is read: starting over would accept whatever is found.
 */
export type OpenLockFile = <Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  initial: z.output<Schema>,
) => Promise<LockFile<z.output<Schema>>>
