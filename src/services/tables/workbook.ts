import readWorkbook from 'read-excel-file/node'

/** The sheets of a workbook that have rows, each as CSV with the first row that has a value as its head. */
export async function sheetsAsCsv(path: string): Promise<{ name: string; csv: string }[]> {
  const sheets = await readWorkbook(path)
  return sheets.flatMap(({ sheet, data }) => {
    const rows = data.filter((row) => row.some((value) => value !== null))
    const [head, ...body] = rows
    if (!head) return []
    const names = head.map((value, index) => (value === null ? `column${index + 1}` : value))
    return [{ name: sheet, csv: [names, ...body].map(toLine).join('\n') }]
  })
}

function toLine(row: readonly unknown[]): string {
  return row.map(toField).join(',')
}

function toField(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return toTime(value)
  return `"${String(value).replaceAll('"', '""')}"`
}

/** A day without a time of day stays one. */
function toTime(date: Date): string {
  return date
    .toISOString()
    .replace(/T00:00:00\.000Z$/, '')
    .replace(/Z$/, '')
    .replace('T', ' ')
}
