import { readdirSync, readFileSync } from 'node:fs'
import { ROOT } from '../support/source-tree.ts'

/** A document of the repository. */
export interface Page {
  /** From the repository's root. */
  path: string
  text: string
}

export function readPage(path: string): Page {
  return { path, text: readFileSync(new URL(path, ROOT), 'utf8') }
}

/** The README and all of `docs`. */
export function allPages(): Page[] {
  const files = readdirSync(new URL('docs', ROOT), { encoding: 'utf8', recursive: true })
  const documents = files.filter((file) => file.endsWith('.md'))
  return ['README.md', ...documents.map((file) => `docs/${file}`)].map(readPage)
}

/** The blocks that are marked as shell commands, in order. */
export function shellBlocks({ text }: Page): string[] {
  return Array.from(text.matchAll(/^```sh\n(.*?)\n```$/gms), ([, block = '']) => block)
}

/** The rows of a table of which the first column is a name in code, without its header. */
export function tableRows({ text }: Page, heading: string): string[][] {
  const section = text.split(/^## /m).find((part) => part.startsWith(heading)) ?? ''
  return Array.from(section.matchAll(/^\| `.+\|$/gm), ([row]) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replaceAll('`', '')),
  )
}
