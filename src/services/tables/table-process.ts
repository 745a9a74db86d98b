import { serveJob } from '../../lib/job-process.ts'
import { convertTable } from './convert-table.ts'
import { queryTables } from './query-tables.ts'
import type { TableJob } from './table-job.ts'

// The whole of a process of its own: what native code does to it does not touch the server.
serveJob((job: TableJob) => (job.kind === 'convert' ? convertTable(job) : queryTables(job)))
