import { describe, expect, it } from 'vitest'
import { chartToText, readChart } from '../../../../src/knowledge/extraction/formats/chart.ts'
import { processorMs } from '../../../support/processor-time.ts'

const point = (text: string, place: number) =>
  `<c:pt idx="${place}"><c:v>${text.replaceAll('&', '&amp;')}</c:v></c:pt>`
const points = (texts: readonly string[]) =>
  `<c:ptCount val="${texts.length}"/>${texts.map(point).join('')}`
const strings = (cells: string, ...texts: string[]) =>
  `<c:strRef><c:f>${cells}</c:f><c:strCache>${points(texts)}</c:strCache></c:strRef>`
const numbers = (format: string, ...texts: string[]) =>
  `<c:numRef><c:f>Sheet1!$B$2:$B$9</c:f><c:numCache><c:formatCode>${format}</c:formatCode>${points(texts)}</c:numCache></c:numRef>`
const title = (text: string) =>
  `<c:title><c:tx><c:rich><a:bodyPr/><a:p><a:pPr><a:defRPr/></a:pPr><a:r><a:rPr lang="en-GB"/><a:t>${text}</a:t></a:r></a:p></c:rich></c:tx><c:overlay val="0"/></c:title>`
const series = (name: string, categories: string, values: string) =>
  `<c:ser><c:idx val="0"/><c:order val="0"/><c:tx>${strings('Sheet1!$B$1', name)}</c:tx><c:dLbls><c:dLbl><c:tx><c:rich><a:p><a:r><a:t>Label</a:t></a:r></a:p></c:rich></c:tx></c:dLbl></c:dLbls><c:cat>${categories}</c:cat><c:val>${values}</c:val></c:ser>`
const chart = (plot: string, head = '', space = '') =>
  `<?xml version="1.0"?><c:chartSpace>${space}<c:chart>${head}<c:autoTitleDeleted val="0"/><c:plotArea><c:layout/>${plot}</c:plotArea></c:chart></c:chartSpace>`

const textOf = async (xml: string) => chartToText(await readChart(xml))

describe('A chart is a table', () => {
  it('of its categories and series, under its title and those of its axes', async () => {
    const quarters = strings('Sheet1!$A$2:$A$3', 'Q1', 'Q2')
    const plot = `<c:barChart>${series('North & East', quarters, numbers('0.0%', '0.125', '0.5'))}${series('South', quarters, numbers('General', '1.1000000000000001'))}</c:barChart><c:catAx>${title('Quarter')}</c:catAx><c:valAx>${title('Share')}</c:valAx>`
    expect(await textOf(chart(plot, title('Sales')))).toBe(
      'Chart: Sales (Share)\n\n| Quarter | North & East | South |\n| --- | --- | --- |\n| Q1 | 12.5% | 1.1 |\n| Q2 | 50.0% |  |',
    )
  })

  it('that is named like its only series', async () => {
    const plot = `<c:pieChart>${series('Catch', strings('', 'Eel'), numbers('General', '3'))}</c:pieChart>`
    expect(await textOf(chart(plot))).toMatch(/^Chart: Catch\n\n\| Category \| Catch \|/)
  })

  it('with dates as dates, of either day zero', async () => {
    const plot = `<c:lineChart>${series('Level', numbers('d/m/yyyy', '45429'), numbers('General', '7'))}</c:lineChart>`
    expect(await textOf(chart(plot))).toContain('| 2024-05-17 | 7 |')
    expect(await textOf(chart(plot, '', '<c:date1904 val="1"/>'))).toContain('| 2028-05-18 | 7 |')
  })

  it('with all levels of its categories', async () => {
    const levels = `<c:multiLvlStrRef><c:f>Sheet1!$A$2:$B$4</c:f><c:multiLvlStrCache><c:ptCount val="3"/><c:lvl>${['Q1', 'Q2', 'Q1'].map(point).join('')}</c:lvl><c:lvl>${point('2024', 0)}${point('2025', 2)}</c:lvl></c:multiLvlStrCache></c:multiLvlStrRef>`
    const plot = `<c:barChart>${series('A', levels, numbers('General', '1', '2', '3'))}</c:barChart>`
    expect(await textOf(chart(plot))).toMatch(
      /2024 Q1 \| 1 \|\n\| 2024 Q2 \| 2 \|\n\| 2025 Q1 \| 3 \|$/,
    )
  })

  it('for each of its series that have places of their own', async () => {
    const scatter = (x: string, y: string) =>
      `<c:ser><c:xVal>${numbers('General', x)}</c:xVal><c:yVal>${numbers('General', y)}</c:yVal></c:ser>`
    const plot = `<scatterChart>${scatter('1', '2')}${scatter('3', '4')}</scatterChart>`
    expect(await textOf(chart(plot))).toBe(
      'Chart\n\n| Category |  |\n| --- | --- |\n| 1 | 2 |\n\n| Category |  |\n| --- | --- |\n| 3 | 4 |',
    )
  })

  it('without what is not shown', async () => {
    const plot = `<c:barChart>${series('A', strings('', 'x'), numbers('General', '1'))}<c:extLst><c:ext><c15:ser><c15:tx><c:strRef><c:strCache>${point('Hidden', 0)}</c:strCache></c:strRef></c15:tx></c15:ser></c:ext></c:extLst></c:barChart>`
    expect(await textOf(chart(plot))).not.toMatch(/Hidden|Label/)
  })

  it('of at most 500 rows, however many values there are', async () => {
    const many = Array.from({ length: 100_000 }, (_, place) => String(place))
    const started = processorMs()
    const text = await textOf(
      chart(
        `<c:lineChart>${series('A', strings('', ...many), numbers('0 [', ...many))}</c:lineChart>`,
      ),
    )
    expect(text.match(/\n/g)?.length).toBeLessThan(510)
    expect(text).toContain('(The first 500 of 10000 rows.)')
    expect(processorMs() - started).toBeLessThan(5_000)
  })
})

describe('The values of a chart', () => {
  const isOfCells = async (values: string) =>
    (await readChart(chart(`<c:barChart>${series('A', '', values)}</c:barChart>`))).isOfCells
  it('are cells, or are not in the workbook', async () => {
    const cells = numbers('General', '1')
    expect(await isOfCells(cells)).toBe(true)
    expect(await isOfCells(cells.replace('Sheet1', '[1]Sheet1'))).toBe(false)
    expect(await isOfCells(`<c:numLit>${points(['1'])}</c:numLit>`)).toBe(false)
  })
})
