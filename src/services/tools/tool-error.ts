import { JobRefusal } from '../../lib/child-process.ts'

/** The model's fault: what it is told lets it mend the call. */
export class ToolInputError extends Error {
  override readonly name = 'ToolInputError'
}

/** A failure that the tool foresaw; the model reads `message`. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure'
}

/** Does the work; what a job refuses is told to the model. */
export async function formatRefusal<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof JobRefusal) throw new ToolFailure(error.message)
    throw error
  }
}
