import type { ReadStream, WriteStream } from 'node:tty'

type Output = NodeJS.WritableStream & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>

const STYLES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const

/** The input and output of a command. */
export interface Terminal {
  stdin: NodeJS.ReadableStream & Partial<Pick<ReadStream, 'isTTY' | 'setRawMode'>>
  /** For results, and nothing else. */
  stdout: Output
  /** For progress and messages to the user. */
  stderr: Output
  /** Whether to print results as JSON. */
  json: boolean
  /** Writes a line of a result. */
  print(line: string): void
  /** Writes a result as one line of JSON. */
  printJson(value: unknown): void
  /** Writes a line that is not a result. */
  note(line: string): void
  /** The text in a style, if colours are shown. */
  style(name: keyof typeof STYLES, text: string): string
}

export function createTerminal(
  streams: Pick<Terminal, 'stdin' | 'stdout' | 'stderr'>,
  environment: Readonly<Record<string, string | undefined>>,
): Terminal {
  const { stdout, stderr } = streams
  const { NO_COLOR, TERM } = environment
  const isColoured = stdout.isTTY === true && !NO_COLOR && TERM !== 'dumb'
  return {
    ...streams,
    json: false,
    print: (line) => void stdout.write(`${line}\n`),
    printJson: (value) => void stdout.write(`${JSON.stringify(value)}\n`),
    note: (line) => void stderr.write(`${line}\n`),
    style: (name, text) => (isColoured ? `\u001b[${STYLES[name]}m${text}\u001b[0m` : text),
  }
}

/** Text of documents and models without what could steer the terminal: control characters, and those that reorder text. */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '')
}

/** The text on one line of at most `width` characters. */
export function shorten(text: string, width: number): string {
  const line = plain(text).replaceAll(/\s+/g, ' ').trim()
  return line.length > width ? `${line.slice(0, width - 1)}…` : line
}

/** Formats rows with aligned columns, two blanks apart; the last column may have any length. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, cell.length)
    }
  }
  return rows.map((row) =>
    row
      .map((cell, index) => (index < row.length - 1 ? cell.padEnd(widths[index] ?? 0) : cell))
      .join('  '),
  )
}

const BAR_WIDTH = 24
const REDRAW_MS = 100
const CLEAR_LINE = '\r\u001b[K'

/** A progress bar for long work, as one line on a terminal. */
export function createProgress({ stderr }: Terminal, label: string) {
  const start = performance.now()
  let drawnAt = Number.NEGATIVE_INFINITY
  return {
    update(done: number, total: number, note = ''): void {
      const now = performance.now()
      if (!stderr.isTTY || (now - drawnAt < REDRAW_MS && done !== total)) return
      drawnAt = now
      const share = total === 0 ? 1 : Math.min(1, done / total)
      const bar = '█'.repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH, '░')
      const rest = ((now - start) / share) * (1 - share)
      const remaining = share > 0 && share < 1 ? `, ${duration(rest)} left` : ''
      const line = `${label} ${bar} ${done} of ${total}${remaining} ${note}`.trimEnd()
      stderr.write(CLEAR_LINE + line.slice(0, (stderr.columns ?? 80) - 1))
    },
    end(): void {
      if (stderr.isTTY) stderr.write(CLEAR_LINE)
    },
  }
}

function duration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1_000)
  return seconds < 90 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`
}
