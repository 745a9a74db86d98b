/** As a block of code, so that no line of it is taken for a heading; the fence is longer than any within. */
export function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/^`{3,}/gm), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text.replace(/\n+$/, '')}\n${fence}\n`
}
