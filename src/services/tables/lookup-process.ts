import { serveJob } from '../../lib/child-process.ts'
import { lookUpRows } from './row-index.ts'

// The whole of a process of its own, without the engine that it does not need.
serveJob(lookUpRows)
