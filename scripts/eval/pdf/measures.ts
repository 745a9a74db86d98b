/**
 * The three measures of opendataloader-bench (https://github.com/opendataloader-project/opendataloader-bench), from their
 * published definitions. Each is between 0 and 1, and undefined where the expected text has nothing to measure.
 */

/**
 * NID, reading order: 1 minus the indel distance of both texts, divided by the sum of their lengths. Emphasis and runs of
 * white space do not count. Tables count as the texts of their cells.
 */
export function readingOrder(expected: string, actual: string): number {
  const [one, other] = [plain(expected), plain(actual)]
  return one.length + other.length === 0
    ? 1
    : (2 * commonLength(one, other)) / (one.length + other.length)
}

/** TEDS, tables (Zhong et al. 2020, https://arxiv.org/abs/1911.10683): the edit distance of the trees of their cells. */
export function tables(expected: string, actual: string): number | undefined {
  const expectedTables = tablesOf(expected)
  return expectedTables.children.length === 0
    ? undefined
    : similarity(expectedTables, tablesOf(actual))
}

/** MHS, headings: the same of the headings with the text below each; 0 if none is found. Levels do not count. */
export function headings(expected: string, actual: string): number | undefined {
  const [expectedHeadings, actualHeadings] = [headingsOf(expected), headingsOf(actual)]
  if (!hasHeading(expectedHeadings)) return undefined
  return hasHeading(actualHeadings) ? similarity(expectedHeadings, actualHeadings) : 0
}

const hasHeading = ({ children }: Tree) => children.some(({ kind }) => kind === 'heading')

interface Tree {
  kind: string
  text: string
  children: Tree[]
}

const tree = (kind: string, text = '', children: Tree[] = []): Tree => ({ kind, text, children })

const EMPHASIS = /(\*{1,3}|~~|__|_)(\S(?:.*?\S)?)\1/gs
const RULE = /^\|(?:\s*:?-+:?\s*\|)+\s*$/
const HEADING = /^#{1,6}\s+(.*)$/

const tidy = (text: string) =>
  text
    .replaceAll(EMPHASIS, '$2')
    .replaceAll(/<br\s*\/?>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()

const plain = (text: string) =>
  tidy(
    text
      .split('\n')
      .filter((line) => !RULE.test(line))
      .map((line) => (line.startsWith('|') ? line.replaceAll('|', ' ') : line.replace(/^#+ /, '')))
      .join('\n'),
  )

const TABLE = /(?:^\|.*\n?)+/gm

function tablesOf(text: string): Tree {
  const tables = Array.from(text.matchAll(TABLE), ([lines]) => {
    const rows = lines
      .trim()
      .split('\n')
      .filter((line) => !RULE.test(line))
    return tree('table', '', rows.map(toRow))
  })
  return tree('tables', '', tables)
}

function toRow(line: string): Tree {
  const cells = line.replaceAll(/^\||\|\s*$/g, '').split('|')
  return tree(
    'row',
    '',
    cells.map((cell) => tree('cell', tidy(cell))),
  )
}

function headingsOf(text: string): Tree {
  const parts = text.split(/^(?=#{1,6} )/m).map((part) => {
    const [first = '', ...rest] = part.split('\n')
    const title = HEADING.exec(first)?.[1]
    const body = plain(title === undefined ? part : rest.join('\n'))
    const content = body === '' ? [] : [tree('content', body)]
    return title === undefined ? content : [tree('heading', tidy(title), content)]
  })
  return tree('document', '', parts.flat())
}

function similarity(one: Tree, other: Tree): number {
  const [a, b] = [inOrder(one), inOrder(other)]
  return 1 - treeDistance(a, b) / Math.max(a.length, b.length)
}

/** A node with the index of its leftmost leaf, both counted in postorder. */
interface Node {
  kind: string
  text: string
  first: number
}

function inOrder(root: Tree, nodes: Node[] = []): Node[] {
  const first = nodes.length
  for (const child of root.children) inOrder(child, nodes)
  nodes.push({ kind: root.kind, text: root.text, first })
  return nodes
}

/** Zhang and Shasha 1989: the least cost of deleting, inserting and renaming nodes. */
function treeDistance(a: readonly Node[], b: readonly Node[]): number {
  const distances = a.map(() => new Float64Array(b.length))
  const renames = new Map<string, number>()
  const rename = (one: Node, other: Node) => {
    if (one.kind !== other.kind) return 1
    if (one.text === other.text) return 0
    const key = `${one.text}\0${other.text}`
    const cost =
      renames.get(key) ??
      1 - (2 * commonLength(one.text, other.text)) / (one.text.length + other.text.length)
    renames.set(key, cost)
    return cost
  }
  for (const i of roots(a)) for (const j of roots(b)) forests(a, b, [i, j], distances, rename)
  return distances.at(-1)?.at(-1) ?? 0
}

/** Nodes with a sibling to their left, and the root. */
function roots(nodes: readonly Node[]): number[] {
  const last = new Map(nodes.map(({ first }, index) => [first, index]))
  return [...last.values()].toSorted((a, b) => a - b)
}

function forests(
  a: readonly Node[],
  b: readonly Node[],
  [i, j]: readonly [number, number],
  distances: Float64Array[],
  rename: (one: Node, other: Node) => number,
): void {
  const [left, top] = [a[i]?.first ?? 0, b[j]?.first ?? 0]
  const costs = Array.from({ length: i - left + 2 }, (_, x) => {
    const row = new Float64Array(j - top + 2)
    row[0] = x
    return row
  })
  const at = (x: number, y: number) => costs[x]?.[y] ?? 0
  for (let y = 0; y <= j - top + 1; y++) costs[0]?.fill(y, y, y + 1)
  const costOf = (x: number, y: number) => {
    const [one, other] = [a[x], b[y]]
    if (!one || !other) return 0
    const areTrees = one.first === left && other.first === top
    const kept = areTrees
      ? at(x - left, y - top) + rename(one, other)
      : at(one.first - left, other.first - top) + (distances[x]?.[y] ?? 0)
    const cost = Math.min(at(x - left, y - top + 1) + 1, at(x - left + 1, y - top) + 1, kept)
    if (areTrees) distances[x]?.fill(cost, y, y + 1)
    return cost
  }
  for (let x = left; x <= i; x++) {
    for (let y = top; y <= j; y++) costs[x - left + 1]?.fill(costOf(x, y), y - top + 1, y - top + 2)
  }
}

/** The length of the longest common subsequence. */
function commonLength(one: string, other: string): number {
  let before = new Uint32Array(other.length + 1)
  let row = new Uint32Array(other.length + 1)
  for (let i = 0; i < one.length; i++) {
    const code = one.charCodeAt(i)
    for (let j = 0; j < other.length; j++) {
      row[j + 1] =
        code === other.charCodeAt(j)
          ? (before[j] ?? 0) + 1
          : Math.max(before[j + 1] ?? 0, row[j] ?? 0)
    }
    ;[before, row] = [row, before]
  }
  return before[other.length] ?? 0
}
