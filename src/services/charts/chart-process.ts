import { serveJob } from '../../lib/job-process.ts'
import { renderChart } from './render-chart.ts'

// The whole of a process of its own: a chart can take no more memory or time than it is given.
serveJob(renderChart)
