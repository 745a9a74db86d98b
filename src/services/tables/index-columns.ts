/** What an index file calls a column, whatever its own name. */
export function columnName(index: number): string {
  return `c${index}`
}
