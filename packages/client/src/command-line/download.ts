import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { AgentServer, Document } from '../agent-server.ts'
import { type Command, EXIT, readParameters, UsageError } from './command.ts'
import { createProgress } from './terminal.ts'

/** Error codes if the document was replaced or deleted while its chunks were read. */
const IS_CHANGED = ['invalid_request', 'document_not_found']

export const downloadDocuments: Command = {
  summary: 'Download the text of all documents',
  help: `Usage: agent-server-client download [FILE]

Writes every document that queries find as one line of JSON, which POST /documents/batch accepts
(application/x-ndjson): its id, title, url, metadata, access and text. Writes to standard output, or to FILE,
which appears only once it is complete. Uploaded files are not included: for a backup of everything, use
npm run backup on the server.

Example:
  agent-server-client download documents.ndjson`,
  options: {},
  async run(context) {
    const { values, positionals } = readParameters(context, {})
    const [file, ...more] = positionals
    if (more.length > 0) throw new UsageError('download takes one file')
    const { terminal, signal } = context
    const client = await context.connect(values.url)
    const progress = createProgress(terminal, 'downloading')
    const { documents: counts } = await client.admin.readiness({ signal })
    let done = 0
    const lines = async function* () {
      for await (const line of linesOf(client, signal)) {
        yield line
        progress.update(++done, counts?.ready ?? 0)
      }
    }
    try {
      if (file === undefined)
        await pipeline(Readable.from(lines()), terminal.stdout, { end: false })
      else await writeWhole(file, lines())
    } finally {
      progress.end()
    }
    if (file !== undefined && terminal.json) terminal.printJson({ file, documents: done })
    else if (file !== undefined)
      terminal.note(`${file} holds ${done} ${done === 1 ? 'document' : 'documents'}`)
    return EXIT.done
  },
}

async function* linesOf(client: AgentServer, signal: AbortSignal): AsyncGenerator<string> {
  for await (const document of client.documents.list({ signal })) {
    if (document.servedRevision === undefined) continue
    const { id, title, url, metadata, access } = document
    const text = await textOf(client, document, signal)
    if (text !== undefined) yield `${JSON.stringify({ id, title, url, metadata, access, text })}\n`
  }
}

/**
 * Rebuilds a document's text. The text between chunks is blank, and may be other blanks here. Undefined if the
 * document is gone.
 */
async function textOf(
  client: AgentServer,
  { id }: Document,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      let text = ''
      for await (const chunk of client.documents.chunks(id, { signal })) {
        text =
          text.padEnd(chunk.start, '\n') + chunk.text.slice(Math.max(text.length - chunk.start, 0))
      }
      return text
    } catch (error) {
      const { code } = Object(error)
      if (!IS_CHANGED.includes(code)) throw error
      if (code === 'document_not_found') return undefined
    }
  }
  throw new Error(`${id} is replaced faster than it can be read`)
}

async function writeWhole(file: string, lines: AsyncIterable<string>): Promise<void> {
  const draft = `${file}.part`
  try {
    await pipeline(Readable.from(lines), createWriteStream(draft))
    await rename(draft, file)
  } finally {
    await rm(draft, { force: true })
  }
}
