import { closeSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { isMissing } from '../files.ts'

/** Only Linux shows what is open, and whether child processes inherit it. */
const OPEN = '/proc/self/fdinfo'
const FIRST_AFTER_STREAMS = 3
/** See open(2): not inherited by programs that are started. */
const CLOSE_ON_EXEC = 0o2_000_000

/**
 * Closes descriptors that a supervisor left open besides the three standard streams: every program that the server
 * starts would inherit them, including MCP servers and code in sandboxes. Node.js does this only for low numbers up
 * to the first gap; what it opens itself is never inherited, and so never closed here.
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
    // The descriptor through which the list itself was read.
    if (isMissing(error)) return false
    throw error
  }
}
