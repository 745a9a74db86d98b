import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { extractHtml } from '../../../src/knowledge/extraction/formats/html.ts'

const USAGE = `Usage: node scripts/eval/manuals/make.ts pg|py <folder> [--manual DIRECTORY]

Makes a judged collection for \`npm run eval\` of a manual in HTML and the questions beside this script. The manuals are
those of Debian 12: pg is that of the package postgresql-doc-15, py that of python3-doc.`

/** Where the packages put them. */
const MANUALS: Record<string, string> = {
  pg: '/usr/share/doc/postgresql-doc-15/html',
  py: '/usr/share/doc/python3-dev/html',
}
/** Lists of everything, and what changed in which version. */
const LEFT_OUT =
  /(?:^|\/)(?:release|genindex|py-modindex|search|bookindex|contents)\b|^(?:whatsnew|_static|_sources)\//

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { manual: { type: 'string' } },
})
const [name = '', folder] = positionals
const directory = values.manual ?? MANUALS[name] ?? ''
if (!MANUALS[name] || folder === undefined || !existsSync(directory)) {
  process.stderr.write(`${USAGE}\n`)
  process.exit(2)
}

const all = await readFile(new URL('./questions.tsv', import.meta.url), 'utf8')
const questions = all
  .trim()
  .split('\n')
  .map((line) => line.split('\t'))
  .filter(([, manual]) => manual === name)
const files = (await readdir(directory, { recursive: true }))
  .filter((file) => file.endsWith('.html') && !LEFT_OUT.test(file))
  .toSorted()
const pages = await Promise.all(
  files.map(async (file) => {
    const { text } = extractHtml(await readFile(join(directory, file), 'utf8'))
    return { _id: file, text }
  }),
)
const toLines = (entries: readonly object[]) =>
  entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')

await mkdir(folder, { recursive: true })
await writeFile(join(folder, 'corpus.jsonl'), toLines(pages))
const queries = questions.map(([kind, , text], index) => ({ _id: `${kind}-${index}`, text }))
await writeFile(join(folder, 'queries.jsonl'), toLines(queries))
const judged = questions.flatMap(([kind, , , right = ''], index) =>
  right.split(' ').map((page) => `${kind}-${index}\t${page}\t1\n`),
)
await writeFile(join(folder, 'qrels.tsv'), `query-id\tcorpus-id\tscore\n${judged.join('')}`)
process.stdout.write(`${pages.length} pages and ${queries.length} questions in ${folder}\n`)
