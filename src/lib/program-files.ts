import { fileURLToPath } from 'node:url'

/** All that a process of ours may read: the program and its packages, but not the keys and the data beside them. */
export const PROGRAM_FILES: readonly string[] = [
  '../../src',
  '../../node_modules',
  '../../package.json',
].map((path) => fileURLToPath(new URL(path, import.meta.url)))
