import { cp, mkdir, readdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT } from '../source-tree.ts'

/** A change of a file of ours: the words that are replaced stand in it so often, or the change fails. */
export interface Patch {
  file: string
  from: string
  to: string
  /** How often; once by itself. */
  times?: number
}

export interface Version {
  name: string
  patches: readonly Patch[]
  /** New files. */
  files: Readonly<Record<string, string>>
}

const REPOSITORY = fileURLToPath(ROOT)
const PACKAGES = join(REPOSITORY, 'node_modules')
const COPIED = ['src', 'packages', 'skills', 'ui', 'package.json', '.env.example', 'LICENSE']
const OWN = '@agent-server'
/** Of this checkout. */
export const VERSION: string = JSON.parse(
  await readFile(join(REPOSITORY, 'package.json'), 'utf8'),
).version
/** Not needed to run the server. */
const LEFT_OUT = /\/(?:node_modules|test|dist|client-python|pp-ocr|multilingual-e5)(?:\/|$)/

/** Copies this checkout into an empty folder, and changes the copy into another version. Answers what is run. */
export async function makeVersion(directory: string, version: Version): Promise<string> {
  const filter = (path: string) => !LEFT_OUT.test(path.slice(REPOSITORY.length - 1))
  for (const name of COPIED) {
    await cp(join(REPOSITORY, name), join(directory, name), { recursive: true, filter })
  }
  await linkPackages(directory)
  const named = {
    file: 'package.json',
    from: `"version": "${VERSION}"`,
    to: `"version": "${version.name}"`,
  }
  for (const patch of [named, READS_PACKAGES, ...version.patches]) await apply(directory, patch)
  for (const [path, text] of Object.entries(version.files)) {
    await writeFile(join(directory, path), text, { flag: 'wx' })
  }
  return join(directory, 'src/main.ts')
}

/** Jobs may read where the links to packages lead, too. */
const READS_PACKAGES: Patch = {
  file: 'packages/lib/src/processes/child-process.ts',
  from: '.map((path) => join(ROOT, path))',
  to: `.map((path) => join(ROOT, path)).concat(${JSON.stringify(PACKAGES)})`,
}

/** Packages of others are those of this checkout; our own are the copies. */
async function linkPackages(directory: string): Promise<void> {
  const to = join(directory, 'node_modules')
  await mkdir(join(to, OWN), { recursive: true })
  for (const name of await readdir(PACKAGES)) {
    if (name !== OWN && !name.startsWith('.')) await symlink(join(PACKAGES, name), join(to, name))
  }
  for (const name of await readdir(join(PACKAGES, OWN))) {
    const path = await realpath(join(PACKAGES, OWN, name))
    await symlink(join(directory, path.slice(REPOSITORY.length)), join(to, OWN, name))
  }
}

async function apply(directory: string, { file, from, to, times = 1 }: Patch): Promise<void> {
  const path = join(directory, file)
  const text = await readFile(path, 'utf8')
  const found = text.split(from).length - 1
  if (found !== times) throw new Error(`${file} has ${found} times, not ${times}: ${from}`)
  await writeFile(
    path,
    text.replaceAll(from, () => to),
  )
}
