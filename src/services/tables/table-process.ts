import { serveJob } from '../../lib/child-process.ts'
import { convertTable } from './convert-table.ts'
import { queryTables } from './query-tables.ts'
import { indexTable } from './row-index.ts'
import type { TableJob } from './table-job.ts'

// The whole of a process of its own: what native code does to it does not touch the server.
serveJob(async (job: TableJob) => {
  if (job.kind === 'convert') return convertTable(job)
  return job.kind === 'index' ? indexTable(job) : queryTables(job)
})
