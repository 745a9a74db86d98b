import type { Job, JobRunner } from '@agent-server/lib/processes/child-process.ts'

/**
 * Runs a job in this process, unbounded, and not in one of its own: for what a job does, of which each test would
 * start a process. What bounds it is tested with `runJob`.
 */
export async function runJobHere(job: Job, input: unknown): Promise<unknown> {
  const module: Record<string, (input: unknown) => unknown> = await import(job.module.href)
  return module[job.run]?.(structuredClone(input))
}

/** The same, as services ask for it. */
export const createRunnerHere =
  (): JobRunner =>
  async (job, schema, { input }, signal) => {
    signal.throwIfAborted()
    return schema.parse(await runJobHere(job, input))
  }
