import { z } from 'zod'
import { JobExhausted, JobRefusal, runJob } from '../../lib/child-process.ts'
import { createSemaphore } from '../../lib/semaphore.ts'
import type { RenderedChart } from './render.ts'
import type { ChartSpecification } from './specification.ts'

const ENTRY = new URL('./chart-process.ts', import.meta.url)
const LIMITS = { heapMegabytes: 512, deadlineMs: 30_000 }
const AT_ONCE = 2
const MAX_WAITING = 50

const Rendered = z.object({ svg: z.string(), png: z.instanceof(Uint8Array) })

export interface Charts {
  /** Throws `JobRefusal` in words for the model. */
  render(specification: ChartSpecification, signal: AbortSignal): Promise<RenderedChart>
}

/** Draws charts, a few at a time, each in a process of its own. */
export function createCharts(): Charts {
  const semaphore = createSemaphore(AT_ONCE, MAX_WAITING)
  return {
    async render(specification, signal) {
      try {
        const output = await semaphore.run(
          () => runJob(ENTRY, specification, LIMITS, signal),
          signal,
        )
        return Rendered.parse(output)
      } catch (error) {
        if (!(error instanceof JobExhausted)) throw error
        throw new JobRefusal(`Drawing the chart ${error.message}: take fewer rows`)
      }
    },
  }
}
