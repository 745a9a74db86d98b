import { parseJson } from '@agent-server/lib/text/json.ts'
import { z } from 'zod'
import { createBoundedText, type Extracted, toCodeBlock, withoutData } from '../extracted.ts'
import { withoutTerminalCodes } from '../terminal-codes.ts'
import { extractHtml } from './html.ts'

// The format of Jupyter notebooks: https://nbformat.readthedocs.io/.

const text = z
  .union([z.string(), z.array(z.string())])
  .transform((lines) => (typeof lines === 'string' ? lines : lines.join('')))
const output = z.object({
  text: text.optional().catch(undefined),
  html: text.optional().catch(undefined),
  data: z.record(z.string(), z.unknown()).optional().catch(undefined),
  traceback: z.array(z.string()).optional().catch(undefined),
  ename: z.string().optional().catch(undefined),
  evalue: z.string().optional().catch(undefined),
})
const cell = z.object({
  cell_type: z.string().catch('raw'),
  source: text.optional().catch(undefined),
  /** Its source in old notebooks. */
  input: text.optional().catch(undefined),
  level: z.number().int().min(1).max(6).optional().catch(undefined),
  outputs: z.array(output).catch([]).default([]),
})
const cells = z.array(cell)
const notebook = z.object({
  cells: cells.optional(),
  worksheets: z.array(z.object({ cells })).optional(),
  metadata: z
    .object({
      language_info: z.object({ name: z.string() }).optional().catch(undefined),
      kernelspec: z.object({ language: z.string() }).optional().catch(undefined),
    })
    .catch({})
    .default({}),
})

type Output = z.infer<typeof output>

/** The cells of a notebook and the text of their outputs, without pictures. What is none is kept as JSON. */
export async function extractNotebook(source: string): Promise<Extracted> {
  const parsed = notebook.safeParse(parseJson(source))
  if (!parsed.success) return { text: toCodeBlock(source, 'json') }
  const { cells: own, worksheets = [], metadata } = parsed.data
  const language = metadata.language_info?.name ?? metadata.kernelspec?.language ?? 'python'
  const all = createBoundedText()
  for (const one of own ?? worksheets.flatMap((sheet) => sheet.cells)) {
    const words = withoutData(one.source ?? one.input ?? '').trim()
    if (words !== '') all.add(`${shown(one.cell_type, words, one.level, language)}\n\n`)
    for (const result of one.outputs) {
      const block = await outputText(result)
      if (block !== '') all.add(`${block}\n\n`)
    }
  }
  return { text: all.toString() }
}

function shown(type: string, words: string, level: number | undefined, language: string): string {
  if (type === 'code') return toCodeBlock(words, language).trimEnd()
  return type === 'heading' ? `${'#'.repeat(level ?? 1)} ${words}` : words
}

async function outputText(output: Output): Promise<string> {
  const { text: words, html, data = {}, traceback = [], ename, evalue } = output
  const of = (type: string) => text.safeParse(data[type]).data
  const markdown = of('text/markdown')
  if (markdown !== undefined) return withoutData(markdown).trim()
  const page = of('text/html') ?? html
  const table = page?.includes('<table') ? (await extractHtml(page)).text.trim() : ''
  if (table !== '') return table
  // Many notebooks are kept without their tracebacks.
  const error = traceback.length > 0 ? traceback.join('\n') : ename && `${ename}: ${evalue ?? ''}`
  const plain = words ?? of('text/plain') ?? error ?? ''
  // Colours and movements of the cursor in a terminal.
  const lines = withoutTerminalCodes(plain)
  return lines.trim() === '' ? '' : toCodeBlock(lines, '').trimEnd()
}
