import type { Content } from './upload.ts'

/** Of Node.js, Deno and Bun alike; found at run time, so that bundlers for browsers have nothing to resolve. */
interface Runtime {
  getBuiltinModule?(name: 'node:fs'): typeof import('node:fs') | undefined
}

/** The file at a path. Throws what the file system throws, such as ENOENT, and an Error where there is none. */
export async function fileAt(path: string): Promise<Content> {
  const { process }: { process?: Runtime } = globalThis
  const fs = process?.getBuiltinModule?.('node:fs')
  if (!fs) {
    throw new Error('There is no file system to read a path from: upload a File, a Blob or bytes')
  }
  const { size } = await fs.promises.stat(path)
  const name = path.replace(/^.*[/\\]/s, '')
  // As long as it was found to be: what is added to it meanwhile would break the form.
  const open = () => fs.createReadStream(path, size > 0 ? { end: size - 1 } : {})
  return { name, size, open }
}
