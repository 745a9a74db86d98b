/** How many characters have to be added, left out or replaced to make one word of the other (Levenshtein). */
export function editDistance(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1]
      const [left = 0, up = 0, across = 0] = [current[column - 1], above[column], above[column - 1]]
      current.push(isSame ? across : 1 + Math.min(left, up, across))
    }
    above = current
  }
  return above[other.length] ?? 0
}
