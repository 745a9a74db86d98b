import { chown, lchown, lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The user id, as in docker-compose.yml and deploy/kubernetes. */
const USER = 1_000

/**
 * Makes the user the owner of files: a folder's contents before the folder itself, so that a later run can resume an
 * interrupted one.
 */
async function give(path: string): Promise<void> {
  const stats = await lstat(path)
  if (stats.uid === USER) return
  if (stats.isDirectory()) for (const name of await readdir(path)) await give(join(path, name))
  await lchown(path, USER, USER)
}

async function giveData(directory: string): Promise<void> {
  try {
    // A command that ran as root may have left a file in a folder that the user already owns.
    for (const name of await readdir(directory)) await give(join(directory, name))
    await chown(directory, USER, USER)
  } catch (error) {
    // Not fatal here: the server itself refuses to run on a folder that it cannot write to.
    process.stderr.write(`${directory} cannot be given to the user ${USER}: ${String(error)}\n`)
  }
}

function dropRoot(): void {
  try {
    process.setgroups?.([])
    process.setgid?.(USER)
    process.setuid?.(USER)
  } catch {
    process.stderr.write(
      `Root cannot be given up: run the container as --user ${USER}:${USER}, or with the capabilities SETUID and SETGID\n`,
    )
    process.exit(1)
  }
}

const [, , directory = '/data', ...parameters] = process.argv
if (process.getuid?.() === 0) {
  await giveData(directory)
  dropRoot()
}
// Replace this process, so that the server was never root and owns its files in /proc, too.
const main = fileURLToPath(new URL('./main.ts', import.meta.url))
process.execve?.(process.execPath, [process.execPath, ...process.execArgv, main, ...parameters])
