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

/**
 * Opens a lock file by its name, of letters and hyphens; one that is not there yet is `initial`. What cannot be
 * understood throws, here or when it is read: to begin anew would accept whatever is found.
 */
export type OpenLockFile = <Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  initial: z.output<Schema>,
) => Promise<LockFile<z.output<Schema>>>
