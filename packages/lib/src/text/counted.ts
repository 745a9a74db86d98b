/** A number with what it counts, in words: `1 document`, `2,000 documents`. */
export function counted(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : nouns}`
}
