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

/** How many paragraphs lie between those of two questions that are asked together. */
const APART = 101

/**
 * XQuAD, https://github.com/google-deepmind/xquad: questions in one language find the paragraph that answers them, in
 * English or, for `de-de`, in the same language. With `en+two`, each message asks two questions, whose paragraphs are
 * both to be found; with `en+and`, in one sentence. Titles are English in all languages, so they are left out.
 */
export async function readXquad(folder: string, choice: string): Promise<Collection> {
  const [languages = '', form] = choice.split('+')
  const [questionLanguage = 'en', textLanguage = 'en'] = (languages || 'en').split('-')
  const read = async (language: string) => {
    const file = await readFile(join(folder, `xquad.${language}.json`), 'utf8')
    return Squad.parse(JSON.parse(file)).data.flatMap(({ paragraphs }) => paragraphs)
  }
  const asked = await read(questionLanguage)
  const paragraphs = await read(textLanguage)
  const questions = asked.flatMap(({ qas }, place) =>
    qas.map(({ id, question }, at) => {
      const other = (place + APART) % asked.length
      const second = asked[other]?.qas.at(at % (asked[other]?.qas.length ?? 1))?.question
      return form === undefined || second === undefined
        ? { id, text: question, relevant: new Map([[`${place}`, 1]]) }
        : {
            id,
            text: JOINED[form === 'and' ? 'and' : 'two'](question, second),
            relevant: new Map([
              [`${place}`, 1],
              [`${other}`, 1],
            ]),
          }
    }),
  )
  return {
    documents: () => paragraphs.map(({ context }, place) => ({ _id: `${place}`, text: context })),
    questions,
  }
}

const JOINED = {
  two: (one: string, other: string) => `${one} ${other}`,
  and: (one: string, other: string) =>
    `${one.replace(/\?\s*$/, '')}, and ${other.charAt(0).toLowerCase()}${other.slice(1)}`,
}
