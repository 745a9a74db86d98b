import { JobRefusal } from '../../lib/job-process.ts'
import { ToolFailure } from './tool-error.ts'

/** Does the work; what a job refuses is told to the model. */
export async function tellRefusal<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof JobRefusal) throw new ToolFailure(error.message)
    throw error
  }
}
