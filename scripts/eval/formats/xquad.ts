import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Collection } from '../collection.ts'

const Squad = z.object({
  data: z.array(
    z.object({
      title: z.string(),
      paragraphs: z.array(
        z.object({
          context: z.string(),
          qas: z.array(z.object({ id: z.string(), question: z.string() })),
        }),
      ),
    }),
  ),
})

/**
 * XQuAD, https://github.com/google-deepmind/xquad: questions in one language find the paragraph that answers them, in
 * English or, for `de-de`, in the same language. Titles are English in all languages, so they are left out.
 */
export async function readXquad(folder: string, choice: string): Promise<Collection> {
  const [questionLanguage = 'en', textLanguage = 'en'] = (choice || 'en').split('-')
  const read = async (language: string) => {
    const file = await readFile(join(folder, `xquad.${language}.json`), 'utf8')
    return Squad.parse(JSON.parse(file)).data.flatMap(({ paragraphs }) => paragraphs)
  }
  const questions = await read(questionLanguage)
  const paragraphs = await read(textLanguage)
  return {
    documents: () => paragraphs.map(({ context }, place) => ({ _id: `${place}`, text: context })),
    questions: questions.flatMap(({ qas }, place) =>
      qas.map(({ id, question }) => {
        return { id, text: question, relevant: new Map([[`${place}`, 1]]) }
      }),
    ),
  }
}
