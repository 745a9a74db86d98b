import { serveJob } from '../../lib/child-process.ts'
import { renderChart } from './render.ts'

// The whole of a process of its own: a chart can take no more memory or time than it is given.
serveJob(renderChart)
