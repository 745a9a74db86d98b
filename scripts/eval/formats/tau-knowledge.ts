import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Collection } from '../collection.ts'

const Article = z.object({ id: z.string(), title: z.string(), content: z.string() })
const Task = z.object({
  id: z.string(),
  user_scenario: z.object({ instructions: z.string() }),
  required_documents: z.array(z.string()),
})
/** What the simulated customer is told about its part says nothing about the case. */
const STAGE_DIRECTION =
  /\b(?:never respond|you are (?:currently|playing)|do ?n[o']t (?:bring|dump)|your character)\b/i

/**
 * τ-Knowledge, `data/tau2/domains/banking_knowledge` of https://github.com/sierra-research/tau2-bench: a customer's
 * case finds the documents that solving it requires.
 */
export async function readTauKnowledge(folder: string): Promise<Collection> {
  const read = async <Output>(part: string, schema: z.ZodType<Output>) => {
    const names = (await readdir(join(folder, part))).filter((name) => name.endsWith('.json'))
    return Promise.all(
      names.toSorted().map(async (name) => {
        return schema.parse(JSON.parse(await readFile(join(folder, part, name), 'utf8')))
      }),
    )
  }
  const articles = await read('documents', Article)
  const tasks = await read('tasks', Task)
  return {
    documents: () => articles.map(({ id, title, content }) => ({ _id: id, title, text: content })),
    questions: tasks
      .filter(({ required_documents: required }) => required.length > 0)
      .map(({ id, user_scenario: { instructions }, required_documents: required }) => {
        return {
          id,
          text: caseOf(instructions),
          relevant: new Map(required.map((doc) => [doc, 1])),
        }
      }),
  }
}

function caseOf(instructions: string): string {
  const sentences = instructions.split(/(?<=[.!?])\s+/)
  return sentences.filter((sentence) => !STAGE_DIRECTION.test(sentence)).join(' ') || instructions
}
