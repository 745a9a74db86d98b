import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { closeAfterUse } from './close-after-use.ts'

/** Whether this machine has a program, by its name. */
export function hasProgram(name: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** A shell into which commands are pasted, one block after the other; what one sets, the next sees. */
export interface Shell {
  /** Resolves with what the block printed on standard output. Throws if its last command failed. */
  paste(block: string): Promise<string>
}

export function openShell(directory: string): Shell {
  const child = spawn('sh', { cwd: directory, stdio: ['pipe', 'pipe', 'inherit'] })
  closeAfterUse(async () => {
    const closed = once(child, 'close')
    child.stdin.end()
    await closed
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let blocks = 0

  return {
    async paste(block) {
      blocks += 1
      const end = `end of block ${blocks}: `
      // What a command prints need not end its line.
      child.stdin.write(`${block}\nprintf '\\n%s%s\\n' '${end}' "$?"\n`)
      const printed: string[] = []
      for (;;) {
        const { value: line = '', done } = await lines.next()
        if (done) throw new Error(`The shell has ended after:\n${printed.join('\n')}`)
        if (line === `${end}0`) return printed.join('\n')
        if (line.startsWith(end)) throw new Error(`${line} of\n${block}\n${printed.join('\n')}`)
        printed.push(line)
      }
    },
  }
}
