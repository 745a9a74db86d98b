import type { Step } from './turns.ts'

/** How a call is described: before and after it has ended, and by which field of its input. */
interface Words {
  doing: string
  done: string
  subject?: { field: string; before: string }
}

const WORDS: Readonly<Record<string, Words>> = {
  semantic_search: {
    doing: 'Searching the documents',
    done: 'Searched the documents',
    subject: { field: 'query', before: 'for' },
  },
  read_document: { doing: 'Reading a document', done: 'Read a document' },
  find_text: {
    doing: 'Looking for text',
    done: 'Looked for text',
    subject: { field: 'text', before: 'like' },
  },
  list_tables: {
    doing: 'Listing tables',
    done: 'Listed tables',
    subject: { field: 'search', before: 'with' },
  },
  describe_table: {
    doing: 'Reading the columns',
    done: 'Read the columns',
    subject: { field: 'table', before: 'of' },
  },
  query_table: { doing: 'Querying tables', done: 'Queried tables' },
  lookup_data: {
    doing: 'Looking up data',
    done: 'Looked up data',
    subject: { field: 'table', before: 'in' },
  },
  run_python: { doing: 'Running Python code', done: 'Ran Python code' },
  make_chart: {
    doing: 'Drawing a chart',
    done: 'Drew a chart',
    subject: { field: 'title', before: 'titled' },
  },
  fill_form: { doing: 'Filling in a form', done: 'Filled in a form' },
  analyse_corpus: {
    doing: 'Analysing all documents',
    done: 'Analysed all documents',
    subject: { field: 'question', before: 'for' },
  },
  search_tools: {
    doing: 'Looking for tools',
    done: 'Looked for tools',
    subject: { field: 'query', before: 'to' },
  },
  activate_skill: {
    doing: 'Opening a skill',
    done: 'Opened a skill',
    subject: { field: 'name', before: 'named' },
  },
  read_skill_resource: {
    doing: 'Reading a file of a skill',
    done: 'Read a file of a skill',
    subject: { field: 'path', before: 'named' },
  },
}

const MAX_SUBJECT = 80

/** The server at which the person has to connect their account, if the tool tells that. */
export const serverToConnect = ({ tool }: Pick<Step, 'tool'>) =>
  /^mcp__(.+)__connect_account$/.exec(tool)?.[1]

/** A tool for people; that of an MCP server is `mcp__<server>__<tool>`. */
export const nameOfTool = (tool: string) => tool.replace(/^mcp__(.+?)__(.+)$/, '$2 ($1)')

/** What a call does or has done, in a sentence without its full stop. */
export function wordsOf(step: Step): string {
  const { tool, output, isError } = step
  const { doing, done, subject } = WORDS[tool] ?? {
    doing: `Calling ${nameOfTool(tool)}`,
    done: `Called ${nameOfTool(tool)}`,
  }
  const named = subject && fieldsOf(step.input).find(([name]) => name === subject.field)?.[1]
  const what = named ? ` ${subject.before} “${excerpt(named, MAX_SUBJECT)}”` : ''
  if (output === undefined) return `${doing}${what}`
  if (isError) return `${doing}${what}: ${output.startsWith('Not run') ? 'not run' : 'failed'}`
  const found = outcomeOf(step, output)
  return `${done}${what}${found && `: ${found}`}`
}

function outcomeOf({ tool }: Step, output: string): string {
  if (tool === 'read_document') return readOutput(output).passages[0]?.source ?? ''
  if (tool === 'query_table') {
    const rows = /^Rows: (.+)$/m.exec(output)?.[1] ?? ''
    return rows && `${rows.split(',', 1)[0]} ${rows === '1' ? 'row' : 'rows'}`
  }
  if (tool === 'find_text')
    return /^(?:\d+ places?|Not found)/.exec(output)?.[0].toLowerCase() ?? ''
  if (tool !== 'semantic_search') return ''
  const { length } = readOutput(output).passages
  return length === 1 ? '1 passage' : `${length || 'no'} passages`
}

/** The fields of a call's input as text; what is no object is one field. */
export function fieldsOf(input: unknown): [name: string, text: string][] {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return input === undefined ? [] : [['input', textOf(input)]]
  }
  return Object.entries(input).map(([name, value]) => [name, textOf(value)])
}

const textOf = (value: unknown) =>
  typeof value === 'string' ? value : JSON.stringify(value, null, 2)

/** The name of a field in words: `maximumRows` is `maximum rows`. */
export const nameInWords = (name: string) =>
  name
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase()

/** The beginning of a text. */
export function excerpt(text: string, maximum: number): string {
  return text.length <= maximum ? text : `${text.slice(0, maximum).toWellFormed()}…`
}

interface Passage {
  number: string
  text: string
  /** Title and heading. */
  source: string
}

const PASSAGES = /<passages>\n([\s\S]*?)(?:\n<\/passages>|$)/
/** What marks a text for the model as data. */
const MARKS = /<\/?(?:passages|skill_content|skill_resources)(?: [^>\n]*)?>\n?/g

/** A tool's output for people: its passages by themselves, and the rest without what only the model needs. */
export function readOutput(output: string): { passages: Passage[]; rest: string } {
  const blocks = PASSAGES.exec(output)?.[1]?.split(/\n\n(?=\[\d+\] )/) ?? []
  const passages = blocks.flatMap((block) => {
    const [, number = '', text = '', source = ''] =
      /^\[(\d+)\] ([\s\S]*?)(?:\n\(([^\n]*)\))?$/.exec(block) ?? []
    return number === '' ? [] : [{ number, text, source }]
  })
  const other = passages.length > 0 ? output.replace(PASSAGES, '') : output
  return { passages, rest: other.replaceAll(MARKS, '').trim() }
}
