import { closeSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { isMissing } from '../files.ts'

/** Linux alone shows what is open and whether a child would get it. */
const OPEN = '/proc/self/fdinfo'
const FIRST_AFTER_STREAMS = 3
/** See open(2): not handed on to a program that is started. */
const CLOSE_ON_EXEC = 0o2_000_000

/**
 * Closes what a supervisor left open beyond the three streams: every program that the server starts would get it,
 * MCP servers and code in sandboxes among them. Node.js does so for low numbers up to the first gap alone; what it
 * opens by itself is never handed on, and so never closed here.
 */
export function closeInherited(): void {
  if (!existsSync(OPEN)) return
  const channel: unknown = Object(process.channel).fd
  for (const descriptor of readdirSync(OPEN).map(Number)) {
    const isOurs = descriptor < FIRST_AFTER_STREAMS || descriptor === channel
    if (!isOurs && isHandedOn(descriptor)) closeSync(descriptor)
  }
}

function isHandedOn(descriptor: number): boolean {
  try {
    const [, flags = ''] =
      /^flags:\s*([0-7]+)$/m.exec(readFileSync(`${OPEN}/${descriptor}`, 'utf8')) ?? []
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0
  } catch (error) {
    // The one that the list itself was read through.
    if (isMissing(error)) return false
    throw error
  }
}
