import { createJobRunner, type Job, type JobRunner, runJob } from '../../src/lib/child-process.ts'
import { isLong } from './long.ts'

const { signal } = new AbortController()

/**
 * Runs a job in its own process where suites run in their long form, as in production; else in this one, unbounded:
 * for what a job does, of which each test would start a process. What bounds it is tested with `runJob`.
 */
export async function runJobHere(job: Job, input: unknown): Promise<unknown> {
  if (isLong) return runJob(job, input, signal)
  const module: Record<string, (input: unknown) => unknown> = await import(job.module.href)
  return module[job.run]?.(structuredClone(input))
}

/** The same, as services ask for it. */
export const createRunnerHere = (): JobRunner =>
  isLong
    ? createJobRunner()
    : async (job, schema, input, signal) => {
        signal.throwIfAborted()
        return schema.parse(await runJobHere(job, input))
      }
