import type { z } from 'zod'

/** A small value that says what has been accepted before. */
export interface LockFile<Content> {
  /** As it is now, whoever has changed it last. */
  read(): Promise<Content>
  /**
   * Answers the changed value once it is durable; a change that fails leaves everything as it was. `change` is
   * called again where somebody else has changed the value meanwhile.
   */
  update(change: (content: Content) => Content): Promise<Content>
}

/** The content of a lock file. Throws for what cannot be understood, with words for that. */
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
 * Opens a lock file by its name, of letters and hyphens; one that is not there yet is `initial`. What cannot be
 * understood throws, here or when it is read: to begin anew would accept whatever is found.
 */
export type OpenLockFile = <Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  initial: z.output<Schema>,
) => Promise<LockFile<z.output<Schema>>>
