import type { Hit } from '../agent-server.ts'
import {
  type Command,
  EXIT,
  readParameters,
  readSearch,
  SEARCH_OPTIONS,
  UsageError,
} from './command.ts'
import { plain, shorten, type Terminal } from './terminal.ts'

const OPTIONS = { ...SEARCH_OPTIONS, explain: { type: 'boolean' } } as const

export const query: Command = {
  summary: 'Find the passages that answer a question',
  help: `Usage: agent-server-client query <question> [options]

  --top-k N            maximum number of passages, 1 to 100; default: 5
  --mode MODE          hybrid, lexical (keywords only) or dense (meaning only)
  --effort EFFORT      low, medium or high: how hard to search
  --collection NAME    only documents of this collection
  --filter NAME=VALUE  only documents with this metadata; repeatable
  --explain            show the score of each search stage
  --json               print the server's response

Examples:
  agent-server-client query When does the library open
  agent-server-client query "opening hours" --filter language=en --top-k 3 --json`,
  options: OPTIONS,
  async run(context) {
    const { values, positionals } = readParameters(context, OPTIONS)
    const question = positionals.join(' ').trim()
    if (question === '') throw new UsageError('query takes a question')
    const settings = readSearch(values)
    const client = await context.connect(values.url)
    const { signal, terminal } = context
    const request = { query: question, ...settings }
    const explain = values.explain === true && { explain: true }
    const answer = await client.query({ ...request, ...explain }, { signal })
    if (terminal.json) terminal.printJson(answer)
    else for (const [index, hit] of answer.hits.entries()) printHit(terminal, hit, index + 1)
    if (!terminal.json && answer.hits.length === 0) terminal.note('Nothing was found')
    for (const { typed, corrected } of answer.corrections ?? [])
      terminal.note(`“${typed}” was not found: searched for “${corrected}”`)
    if (answer.degraded)
      terminal.note('A model did not respond: results are from keyword search only')
    return EXIT.done
  },
}

function printHit(terminal: Terminal, hit: Hit, number: number): void {
  const { score, stages } = hit
  const parts = Object.entries(stages ?? {}).map(([stage, value]) => `${stage} ${value.toFixed(3)}`)
  const scores = [score.toFixed(3), ...parts].join(', ')
  terminal.print(
    `${terminal.style('bold', describeHit(hit, number))}  ${terminal.style('dim', scores)}`,
  )
  terminal.print(`${plain(hit.text).replaceAll(/^/gm, '    ')}\n`)
}

/** `[1] Opening hours, page 3, https://example.org/hours`: the hit that an answer cites as `[1]`. */
export function describeHit(hit: Hit, number: number): string {
  const { title, documentId, url, page, sheet, row } = hit
  const place = [
    page === undefined ? '' : `page ${page}`,
    sheet === undefined ? '' : `sheet ${sheet}`,
    row === undefined ? '' : `row ${row}`,
  ]
  const all = [title || documentId, ...place, url ?? ''].filter((part) => part !== '')
  return `[${number}] ${shorten(all.join(', '), 500)}`
}
