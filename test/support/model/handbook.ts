import {
  type Judgement,
  judge,
  type PromptQuestion,
  readPromptQuestions,
} from '../../../scripts/eval/prompt-answers.ts'
import type { ReadChat } from '../chat-reader.ts'
import type { TestServer } from '../server.ts'

export const HANDBOOK = readPromptQuestions()

/** Those whose answer is in the collection. */
export const ANSWERABLE = HANDBOOK.questions.filter(({ source }) => source !== undefined)

/** Ingests each passage as a document; answers the passage's id for each document's. */
export async function ingestHandbook(server: TestServer): Promise<ReadonlyMap<string, string>> {
  const passages = Object.entries(HANDBOOK.passages)
  const ids = await Promise.all(passages.map(([, passage]) => server.ingest(passage)))
  return new Map(passages.map(([passage], index) => [ids[index] ?? '', passage]))
}

/** Whether an answer holds the fact and cites the passage that holds it. */
export function judgeChat(
  { answer, done }: ReadChat,
  question: PromptQuestion,
  documents: ReadonlyMap<string, string>,
): Judgement {
  const passages = (done?.hits ?? []).map(({ documentId }) => documents.get(documentId) ?? '')
  return judge(answer, { ...question, passages })
}
