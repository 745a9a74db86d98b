import { type Collection, isQuestions, readBeir, readQuestionFile } from './collection.ts'
import { readFinanceBench } from './formats/finance-bench.ts'
import { readMtrag } from './formats/mtrag.ts'
import { readTauKnowledge } from './formats/tau-knowledge.ts'
import { readXquad } from './formats/xquad.ts'

/** Each reads a folder that the user has fetched; what follows the name after a colon is for the reader. */
const FORMATS: Record<string, (folder: string, choice: string) => Promise<Collection>> = {
  beir: readBeir,
  xquad: readXquad,
  'tau-knowledge': readTauKnowledge,
  'finance-bench': readFinanceBench,
  mtrag: readMtrag,
}

/** Reads judged questions, or a folder; `format` is a name of `FORMATS`, perhaps with a choice, such as `xquad:de`. */
export function readCollection(folder: string, format: string): Promise<Collection> {
  if (isQuestions(folder)) return readQuestionFile(folder)
  const [name = '', choice = ''] = format.split(':')
  const read = FORMATS[name]
  if (read) return read(folder, choice)
  throw new Error(`--format must be one of ${Object.keys(FORMATS).join(', ')}`)
}
