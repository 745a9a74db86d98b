import { expect, it } from 'vitest'
import { long, someOf } from '../../../test/support/long.ts'
import { readTables as read } from './read-tables.ts'

/** Tables with totals, and the rows that are left in SQL. */
const WITH_TOTALS: [string, string, string[]][] = [
  [
    'subtotals with names in their labels, and a grand total',
    'dept,item,cost\nA,x,1\nA,y,2\nSubtotal A,,3\nB,x,4\nB,y,5\nSubtotal B,,9\nGrand total,,12\n',
    ['A', 'A', 'B', 'B'],
  ],
  [
    'totals behind the names of groups',
    'region,sales\nKiel,120\nUlm,80\nNorth Total,200\nRom,50\nBari,25\nSouth Total:,75\nSum,275\n',
    ['Kiel', 'Ulm', 'Rom', 'Bari'],
  ],
  [
    'sums without a label',
    'region,item,sales\nN,x,120\nN,y,80\nN,,200\nS,x,50\nS,y,25\nS,,75\n,,275\n',
    ['N', 'N', 'S', 'S'],
  ],
  [
    'sums named like rows, in a table that ends in the sum of all',
    'land,2023,2024\nGermany,120,130\nFrance,80,90\nEurope,200,220\nJapan,10,15\nChina,30,40\nAsia,40,55\nWorld,240,275\n',
    ['Germany', 'France', 'Japan', 'China'],
  ],
  ['a total above its rows', 'name,n\nTotal,12\nA,3\nB,4\nC,5\n', ['A', 'B', 'C']],
  [
    'the totals of groups above their rows',
    'region,item,n\n,,1371\nNorth,,367\nNorth,x,113\nNorth,y,254\nSouth,,1004\nSouth,z,471\nSouth,w,533\n',
    ['North', 'North', 'South', 'South'],
  ],
  ['an average', 'name,n\nA,3\nB,4\nC,6.5\nAverage,4.5\n', ['A', 'B', 'C']],
  [
    'a company named so',
    'firm,n\nTotal Energies,5\nShell,7\nSum Corp,9\n',
    ['Total Energies', 'Shell', 'Sum Corp'],
  ],
  ['a small sum by chance', 'name,n\na,1\nb,2\nc,3\nd,6\n', ['a', 'b', 'c', 'd']],
]

it.each(someOf(WITH_TOTALS, 3))(
  'Rows in SQL are no totals: of %s',
  long,
  async (_case, text, names) => {
    const [table] = await read(text)
    expect(table?.values.map(([name]) => name)).toEqual(names)
    const left = text.trim().split('\n').length - 1 - names.length
    const notes = table?.notes ?? []
    expect(notes.length).toBe(left > 0 ? 1 : 0)
    if (left > 0) expect(notes[0]).toContain(`Left out, as totals (${left}): `)
  },
)

it('A row that may be a total by chance stays, and is named', async () => {
  const [table] = await read('name,n\nKiel,120\nUlm,80\nEssen,70\nBoth,270\nRom,11\n')
  expect(table?.rows).toBe(5)
  expect(table?.notes).toEqual([
    'Perhaps totals, as they equal the sum of the rows above them: Both | 270',
  ])
})

it('A long table of random figures loses no row', async () => {
  let seed = 7
  const next = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed % 900
  }
  const rows = Array.from({ length: 3_000 }, (_, row) => `r${row},${next()},${next()}`)
  const [table] = await read(`name,a,b\n${rows.join('\n')}\n`)
  expect(table?.rows).toBe(3_000)
})

it('A remark in the last rows of a table is a note, and figures in brackets are no units', async () => {
  const [remark] = await read(
    'region,sales\nNorth,10\nSouth,20\n"Note: South is estimated",\n* early,\n',
  )
  expect(remark?.rows).toBe(2)
  expect(remark?.notes).toEqual(['Note: South is estimated', '* early'])
  const [account] = await read('acct,amt\nA,(1200)\nB,300\nC,(45.50)\n')
  expect(account?.values).toEqual([
    ['A', '-1200.0'],
    ['B', '300.0'],
    ['C', '-45.5'],
  ])
})

it('Amounts in two units of measure stay text', async () => {
  const [table] = await read('item,weight\nA,12 kg\nB,500 g\n')
  expect(table?.types).toEqual(['VARCHAR', 'VARCHAR'])
})
