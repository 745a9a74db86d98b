export type Block =
  | { kind: 'title' | 'heading' | 'note'; text: string }
  /** The footnote belongs to the end of the text. */
  | { kind: 'text'; text: string; footnote?: string }
  | { kind: 'table'; rows: string[][]; isRuled: boolean; hasProse?: boolean }
  | { kind: 'columns'; texts: string[] }

export interface Sample {
  blocks: Block[]
  /** A line at the top of each page. */
  header?: string
  /** All but the title is set in two columns. */
  isTwoColumned?: boolean
}

const WORDS =
  `river market owl signal report winter bridge paper method harbour office garden result engine letter
  valley measure copper island budget station forest cable window season account field north travel supply`.split(
    /\s+/,
  )

/** A generator of numbers that are the same each time. */
function createRandom(seed: number) {
  let state = seed * 2_654_435_761 + 12_345
  const next = (most: number) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) >>> 0
    return ((state ^ (state >>> 13)) >>> 0) % most
  }
  const word = () => WORDS[next(WORDS.length)] ?? ''
  const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
  const words = (count: number) => Array.from({ length: count }, word).join(' ')
  return {
    next,
    name: (count: number) => capital(words(count)),
    prose: (sentences: number) =>
      Array.from({ length: sentences }, () => `${capital(words(7 + next(9)))}.`).join(' '),
    amount: () => `${next(900) + 10}.${String(next(100)).padStart(2, '0')}`,
  }
}

type Random = ReturnType<typeof createRandom>

function tableOf(random: Random, rows: number, columns: number, emptyIn: number): string[][] {
  const head = [
    'Item',
    ...Array.from({ length: columns - 1 }, (_, n) => `${random.name(1)} ${n + 1}`),
  ]
  const body = Array.from({ length: rows }, (_, row) => [
    `${random.name(2)} ${row + 1}`,
    ...Array.from({ length: columns - 1 }, () =>
      random.next(10) < emptyIn ? '' : random.amount(),
    ),
  ])
  return [head, ...body]
}

/** The layouts that all makers have. */
const COMMON = 6

/**
 * Layouts in turn, the first six of which can be made by every maker; the number also varies sizes, empty cells and
 * lines.
 */
export function sampleOf(number: number, { isSimple }: { isSimple: boolean }): Sample {
  const random = createRandom(number + 1)
  const isRuled = number % 2 === 0
  const title: Block = { kind: 'title', text: random.name(3) }
  const heading = (): Block => ({ kind: 'heading', text: random.name(2) })
  const text = (sentences = 3): Block => ({ kind: 'text', text: random.prose(sentences) })
  const noted = (sentences = 3): Block => ({
    kind: 'text',
    text: random.prose(sentences),
    footnote: random.prose(1),
  })
  const table = (rows: number, empty = 0): Block => ({
    kind: 'table',
    rows: tableOf(random, rows, 3 + random.next(4), empty),
    isRuled,
  })
  const note: Block = { kind: 'note', text: `1 ${random.prose(1)}` }
  const layouts: (() => Sample)[] = [
    () => ({ blocks: [title, text(), heading(), table(5 + random.next(6)), text(2)] }),
    () => ({ blocks: [title, heading(), table(8, 4), heading(), text(4), note] }),
    () => ({
      blocks: [title, { kind: 'columns', texts: [random.prose(12), random.prose(11)] }, text(2)],
    }),
    () => ({
      header: `${random.name(2)} Ltd`,
      blocks: [title, text(), table(60 + random.next(20)), text(2)],
    }),
    () => ({ blocks: [title, text(), table(4), heading(), table(5, 3), text(1)] }),
    () => ({
      header: `${random.name(2)} handbook`,
      blocks: [title, ...Array.from({ length: 6 }, () => [heading(), text(14)]).flat(), table(4)],
    }),
    () => ({
      isTwoColumned: true,
      blocks: [
        title,
        ...[heading(), text(6), noted(5), heading(), text(5), text(4), heading(), text(6)],
        { kind: 'table', rows: tableOf(random, 5, 3, 0), isRuled },
        ...[noted(5), heading(), text(5)],
      ],
    }),
    () => ({ blocks: [title, noted(4), noted(5), heading(), noted(3), text(4)] }),
    () => ({ blocks: [title, text(2), described(random, isRuled), text(3)] }),
    () => ({ blocks: [title, text(1), invoice(random, isRuled), noted(2)] }),
  ]
  const used = isSimple ? layouts.slice(0, COMMON) : layouts
  return used[Math.floor(number / 2) % used.length]?.() ?? { blocks: [] }
}

/** A table whose second column has sentences, which take several lines. */
function described(random: Random, isRuled: boolean): Block {
  const rows = Array.from({ length: 6 }, (_, n) => [
    `${random.name(1)} ${n + 1}`,
    random.prose(1 + random.next(2)),
    random.amount(),
  ])
  return { kind: 'table', isRuled, hasProse: true, rows: [['Part', 'Purpose', 'Price'], ...rows] }
}

/** A table that ends with sums, whose rows begin with empty cells. */
function invoice(random: Random, isRuled: boolean): Block {
  const rows = Array.from({ length: 4 + random.next(4) }, (_, n) => [
    `${random.name(2)} ${n + 1}`,
    String(random.next(9) + 1),
    random.amount(),
    random.amount(),
  ])
  const sums = ['Net', 'Tax', 'Total'].map((name) => ['', '', name, random.amount()])
  return {
    kind: 'table',
    isRuled,
    rows: [['Item', 'Quantity', 'Price', 'Amount'], ...rows, ...sums],
  }
}

const MARKS = { title: '# ', heading: '## ', note: '' }

export function toMarkdown({ blocks, header }: Sample): string {
  const notes: string[] = []
  const parts = blocks.map((block) => {
    if (block.kind === 'columns') return block.texts.join('\n\n')
    if (block.kind === 'table') return toTable(block.rows)
    if (block.kind !== 'text') return `${MARKS[block.kind]}${block.text}`
    if (block.footnote === undefined) return block.text
    notes.push(`[^${notes.length + 1}]: ${block.footnote}`)
    return `${block.text}[^${notes.length}]`
  })
  return `${[...(header ? [header] : []), ...parts, ...notes].join('\n\n')}\n`
}

function toTable(table: readonly string[][]): string {
  const [head = '', ...rows] = table.map((row) => `| ${row.join(' | ')} |`)
  return [head, `|${' --- |'.repeat(table[0]?.length ?? 0)}`, ...rows].join('\n')
}
