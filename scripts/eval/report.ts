import { readFile, writeFile } from 'node:fs/promises'
import { Report } from '@agent-server/evaluation'

export async function saveReport(file: string, report: Report): Promise<void> {
  await writeFile(file, `${JSON.stringify(report)}\n`)
}

export async function readReport(file: string): Promise<Report> {
  return Report.parse(JSON.parse(await readFile(file, 'utf8')))
}
