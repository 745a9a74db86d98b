import { JobRefusal } from '../../lib/job.ts'

/** The model's fault: what it is told lets it mend the call. */
export class ToolInputError extends Error {
  override readonly name = 'ToolInputError'
}

/** A failure that the tool foresaw; the model reads `message`, and the log has the cause. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure'
}

/** Does the work; what a job refuses is a failure that the model reads. */
export async function formatRefusal<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof JobRefusal) throw new ToolFailure(error.message, { cause: error.cause })
    throw error
  }
}
