import { serveJob } from '../../lib/job-process.ts'
import { lookUpRows } from './look-up-rows.ts'

// The whole of a process of its own, without the engine that it does not need.
serveJob(lookUpRows)
