interface DiffLine {
  kind: 'same' | 'removed' | 'added'
  text: string
}

/** Lines of a text that are compared at most, which bounds the table to a million cells. */
const MAX_LINES = 1_000

/** The lines that make the one text into the other, by their longest common subsequence. */
export function diffLines(before: string, after: string): DiffLine[] {
  const old = before.split('\n').slice(0, MAX_LINES)
  const fresh = after.split('\n').slice(0, MAX_LINES)
  const lengths = commonLengths(old, fresh)
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < fresh.length) {
    const [oldLine = '', newLine = ''] = [old[i], fresh[j]]
    const isIn = i < old.length && j < fresh.length
    if (isIn && oldLine === newLine) {
      lines.push({ kind: 'same', text: oldLine })
      i += 1
      j += 1
    } else if (
      j >= fresh.length ||
      (i < old.length && lengthAt(lengths, i + 1, j) >= lengthAt(lengths, i, j + 1))
    ) {
      lines.push({ kind: 'removed', text: oldLine })
      i += 1
    } else {
      lines.push({ kind: 'added', text: newLine })
      j += 1
    }
  }
  return lines
}

const lengthAt = (lengths: readonly Uint16Array[], i: number, j: number) => lengths[i]?.[j] ?? 0

/** For each pair of places, how many lines the rests have in common. */
function commonLengths(old: readonly string[], fresh: readonly string[]): Uint16Array[] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint16Array(fresh.length + 1))
  for (let i = old.length - 1; i >= 0; i -= 1) {
    const row = lengths[i]
    for (let j = fresh.length - 1; row && j >= 0; j -= 1) {
      row[j] =
        old[i] === fresh[j]
          ? lengthAt(lengths, i + 1, j + 1) + 1
          : Math.max(lengthAt(lengths, i + 1, j), lengthAt(lengths, i, j + 1))
    }
  }
  return lengths
}
