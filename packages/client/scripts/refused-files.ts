import { REFUSED } from '@agent-server/readers'

/** The module with the kinds of files that the server refuses by their first bytes. */
export function refusedFiles(): string {
  const entries = REFUSED.map(([kind, mark]) => `  ['${kind}', '${mark.toString('hex')}'],\n`)
  return `// Generated from the server's list by \`npm run client:types\`.

/** What kind of file it is, and its first bytes in hexadecimal digits. */
export const REFUSED_FILES: readonly (readonly [kind: string, mark: string])[] = [
${entries.join('')}]
`
}
