import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { type Collection, readLines } from '../collection.ts'

const Question = z.object({
  financebench_id: z.string(),
  doc_name: z.string(),
  question: z.string(),
  question_type: z.string(),
  /** Pages are counted from 0. */
  evidence: z.array(z.object({ doc_name: z.string(), evidence_page_num: z.int() })),
})

/**
 * FinanceBench, https://github.com/patronus-ai/financebench (CC BY-NC): questions find the page of a company's report.
 * Only those are asked whose reports are in `pdfs/`, and only these reports are searched.
 */
export async function readFinanceBench(folder: string): Promise<Collection> {
  const file = join(folder, 'data', 'financebench_open_source.jsonl')
  const pathOf = (report: string) => join(folder, 'pdfs', `${report}.pdf`)
  const questions = readLines(await readFile(file, 'utf8'))
    .map((line) => Question.parse(line))
    .filter(({ evidence }) => evidence.every(({ doc_name }) => existsSync(pathOf(doc_name))))
  const reports = new Set(questions.flatMap(({ evidence }) => evidence.map((one) => one.doc_name)))
  return {
    documents: () => Array.from(reports, (_id) => ({ _id, path: pathOf(_id) })),
    questions: questions.map(({ financebench_id: id, question, question_type: kind, evidence }) => {
      const pages = evidence.map(
        ({ doc_name, evidence_page_num: page }) => `${doc_name}#${page + 1}`,
      )
      return {
        id,
        text: question,
        kind,
        byPage: true,
        relevant: new Map(pages.map((page) => [page, 1])),
      }
    }),
  }
}
