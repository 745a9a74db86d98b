import { describe, expect, it } from 'vitest'
import { distinctNames, sheetName, tableName } from '../src/catalogue.ts'

describe('the name of a table', () => {
  it.each([
    ['Sales 2024.csv', 'sales_2024'],
    ['2024 sales.csv', 't_2024_sales'],
    ['Order.xlsx', 'order_table'],
    ['Übersicht – März.csv', 'übersicht_märz'],
    ['売上.csv', '売上'],
    ['"; DROP TABLE x; --.csv', 'drop_table_x'],
    ['....csv', 'table_table'],
    ['', 'table_table'],
    [`${'x'.repeat(300)}.csv`, 'x'.repeat(48)],
  ])('of %j is %s', (title, name) => expect(tableName(title)).toBe(name))

  it('of a sheet has that of the workbook in front', () => {
    expect(sheetName('budget', 'Q1 2026', 0)).toBe('budget__q1_2026')
    expect(sheetName('budget', '!!', 1)).toBe('budget__2')
  })

  it('is used only once', () => {
    expect(distinctNames(['a', 'a', 'b', 'a'])).toEqual(['a', 'a_2', 'b', 'a_3'])
  })
})
