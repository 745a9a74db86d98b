import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

const USAGE = `Usage: node scripts/eval/xquad.ts <folder> <questions> <paragraphs> <target>

Makes a judged collection for \`npm run eval\` of the questions in one language and the paragraphs in another, such as
de and en, from xquad.de.json and xquad.en.json of https://github.com/deepmind/xquad in the folder.`

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

const [folder, questions, paragraphs, target] = process.argv.slice(2)
if (!folder || !questions || !paragraphs || !target) {
  process.stderr.write(`${USAGE}\n`)
  process.exit(2)
}

/** All languages have the same paragraphs in the same order. */
async function readParagraphs(language: string) {
  const text = await readFile(join(folder ?? '', `xquad.${language}.json`), 'utf8')
  return Squad.parse(JSON.parse(text)).data.flatMap((article) => article.paragraphs)
}

const toLines = (entries: readonly object[]) =>
  entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')

const pages = await readParagraphs(paragraphs)
const asked = (await readParagraphs(questions)).flatMap(({ qas }, page) =>
  qas.map(({ id, question }) => ({ id, question, page })),
)
await mkdir(target, { recursive: true })
const corpus = pages.map(({ context }, page) => ({ _id: `${page}`, text: context }))
await writeFile(join(target, 'corpus.jsonl'), toLines(corpus))
const queries = asked.map(({ id, question }) => ({ _id: id, text: question }))
await writeFile(join(target, 'queries.jsonl'), toLines(queries))
const judged = asked.map(({ id, page }) => `${id}\t${page}\t1\n`)
await writeFile(join(target, 'qrels.tsv'), `query-id\tcorpus-id\tscore\n${judged.join('')}`)
process.stdout.write(`${corpus.length} paragraphs and ${queries.length} questions in ${target}\n`)
