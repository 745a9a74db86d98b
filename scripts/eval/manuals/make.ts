import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { extractFile } from '@agent-server/readers'

const USAGE = `Usage: node scripts/eval/manuals/make.ts pg|py|deb <folder> [--manual DIRECTORY]

Makes a judged collection for \`npm run eval\` of a manual in HTML and the questions beside this script. The manuals are
those of Debian 12, where they are found once their package is installed: postgresql-doc-15 for pg, python3.11-doc for
py, debian-reference-en for deb. Without installing one: apt-get download PACKAGE && dpkg -x PACKAGE*.deb DIRECTORY`

interface Manual {
  directory: string
  files: RegExp
  /** A document is a page, or a numbered section whose number is its id. */
  bySection?: boolean
}

/** Left out are lists of everything, and what changed in which version. */
const MANUALS: Record<string, Manual> = {
  pg: {
    directory: '/usr/share/doc/postgresql-doc-15/html',
    files: /^(?!release|bookindex).*\.html$/,
  },
  py: {
    directory: '/usr/share/doc/python3.11/html',
    files: /^(?!genindex|py-modindex|search|contents|whatsnew\/|_static|_sources).*\.html$/,
  },
  deb: {
    directory: '/usr/share/debian-reference',
    files: /^ch\d+\.en\.html$/,
    bySection: true,
  },
}
const SECTION = /^#{1,6} (?:Chapter\s)?(\d[\d.]*)\.\s/

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { manual: { type: 'string' } },
})
const [name = '', folder] = positionals
const manual = MANUALS[name]
const directory = values.manual ?? manual?.directory ?? ''
if (!manual || folder === undefined || !existsSync(directory)) {
  process.stderr.write(`${USAGE}\n`)
  process.exit(2)
}

const table = await readFile(new URL('./questions.tsv', import.meta.url), 'utf8')
const questions = table
  .trim()
  .split('\n')
  .map((line) => line.split('\t'))
  .filter(([, asked]) => asked === name)
const files = (await readdir(directory, { recursive: true })).filter((file) =>
  manual.files.test(file),
)
const pages = await Promise.all(
  files.toSorted().map(async (file) => {
    const bytes = await readFile(join(directory, file))
    const { text } = await extractFile({ name: file, mediaType: 'text/html', bytes })
    return manual.bySection ? sectionsOf(text) : [{ _id: file, text }]
  }),
)
const corpus = pages.flat()
const toLines = (entries: readonly object[]) =>
  entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')

await mkdir(folder, { recursive: true })
await writeFile(join(folder, 'corpus.jsonl'), toLines(corpus))
const queries = questions.map(([kind, , text, , facts], index) => {
  return { _id: `${kind}-${index}`, text, kind, facts: factsOf(facts) }
})
await writeFile(join(folder, 'queries.jsonl'), toLines(queries))
const judged = questions.flatMap(([kind, , , right = ''], index) =>
  (right === '' ? [] : right.split(' ')).map((page) => `${kind}-${index}\t${page}\t1\n`),
)
await writeFile(join(folder, 'qrels.tsv'), `query-id\tcorpus-id\tscore\n${judged.join('')}`)
process.stdout.write(`${corpus.length} documents and ${queries.length} questions in ${folder}\n`)

/** Commands in the text may begin with a number sign, so only numbered headings begin a section. */
function sectionsOf(text: string) {
  const parts = text.split(/^(?=#{1,6} (?:Chapter\s)?\d[\d.]*\.\s)/m)
  return parts.flatMap((part) => {
    const [, number] = SECTION.exec(part) ?? []
    return number === undefined ? [] : [{ _id: number, text: part }]
  })
}

/** Wordings of a fact; a hyphen where the manual holds none. */
function factsOf(facts: string | undefined): string[] | undefined {
  return facts === '-' ? [] : facts?.split(' | ')
}
