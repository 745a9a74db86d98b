import { z } from 'zod'
import { createJobRunner } from '../../lib/processes/child-process.ts'
import type { RenderedChart } from './render.ts'
import type { ChartSpecification } from './specification.ts'

export const RENDERING = {
  ...{ task: 'Drawing the chart', advice: 'take fewer rows' },
  ...{ module: new URL('./render.ts', import.meta.url), run: 'renderChart' },
  ...{ heapMegabytes: 512, residentMegabytes: 1_024, deadlineMs: 30_000 },
}
const Rendered = z.object({ svg: z.string(), png: z.instanceof(Uint8Array) })

export type Charts = ReturnType<typeof createCharts>

/** Draws charts, a few at a time, each in a process of its own. */
export function createCharts(run = createJobRunner()) {
  return {
    /** Throws `JobRefusal` in words for the model. */
    render: (specification: ChartSpecification, signal: AbortSignal): Promise<RenderedChart> =>
      run(RENDERING, Rendered, specification, signal),
  }
}
