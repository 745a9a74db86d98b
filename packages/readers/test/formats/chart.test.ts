import { describe, expect, it } from 'vitest'
import { onlyLong } from '../../../../test/support/long.ts'
import { processorMs } from '../../../../test/support/processor-time.ts'
import { chartToText, showChart } from '../../src/formats/chart.ts'
import { parseChart } from '../../src/formats/parse-chart.ts'
import { parseChartEx } from '../../src/formats/parse-chartex.ts'

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

const textOf = async (xml: string) => chartToText(await showChart(parseChart(xml)))

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

  it('of at most 500 rows, however many values there are', onlyLong, async () => {
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
    (await showChart(parseChart(chart(`<c:barChart>${series('A', '', values)}</c:barChart>`))))
      .isOfCells
  it('are cells, or are not in the workbook', async () => {
    const cells = numbers('General', '1')
    expect(await isOfCells(cells)).toBe(true)
    expect(await isOfCells(cells.replace('Sheet1', '[1]Sheet1'))).toBe(false)
    expect(await isOfCells(`<c:numLit>${points(['1'])}</c:numLit>`)).toBe(false)
  })
})

describe('A chart of a kind that Office has since 2016 is a table', () => {
  const level = (format: string, ...texts: string[]) =>
    `<cx:lvl ptCount="${texts.length}"${format && ` formatCode="${format}"`}>${texts
      .map((text, place) => (text === '' ? '' : `<cx:pt idx="${place}">${text}</cx:pt>`))
      .join('')}</cx:lvl>`
  const dimension = (kind: 'str' | 'num', type: string, ...levels: string[]) =>
    `<cx:${kind}Dim type="${type}"><cx:f>Sheet1!$A$2:$A$5</cx:f>${levels.join('')}</cx:${kind}Dim>`
  const chartEx = (data: string, all: string, more = '') =>
    `<?xml version="1.0"?><cx:chartSpace><cx:chartData><cx:externalData r:id="rId1"/>${data}</cx:chartData><cx:chart>${more}<cx:plotArea><cx:plotAreaRegion>${all}</cx:plotAreaRegion><cx:axis id="0"><cx:catScaling/><cx:title><cx:tx><cx:txData><cx:v>Step</cx:v></cx:txData></cx:tx></cx:title></cx:axis><cx:axis id="1"><cx:valScaling/><cx:title><cx:tx><cx:rich><a:p><a:r><a:t>Tonnes</a:t></a:r></a:p></cx:rich></cx:tx></cx:title></cx:axis></cx:plotArea></cx:chart></cx:chartSpace>`
  const seriesEx = (name: string, data: number, attributes = '') =>
    `<cx:series layoutId="waterfall"${attributes}><cx:tx><cx:txData><cx:f>Sheet1!$B$1</cx:f><cx:v>${name}</cx:v></cx:txData></cx:tx><cx:dataId val="${data}"/></cx:series>`
  const textOfEx = async (xml: string) => chartToText(await showChart(parseChartEx(xml)))

  it('of the data that its series refer to, under its title and those of its axes', async () => {
    const steps = dimension('str', 'cat', level('', 'Start', 'Catch', 'End'))
    const data = `<cx:data id="0">${steps}${dimension('num', 'val', level('0.0%', '0.5', '-0.125', '0.375'))}</cx:data><cx:data id="1">${steps}${dimension('num', 'val', level('General', '7'))}</cx:data>`
    const title =
      '<cx:title><cx:tx><cx:rich><a:p><a:r><a:t>Stock</a:t></a:r></a:p></cx:rich></cx:tx></cx:title>'
    const all = `${seriesEx('Eel', 0)}${seriesEx('Cod', 1)}${seriesEx('Unshown', 0, ' hidden="1"')}`
    expect(await textOfEx(chartEx(data, all, title))).toBe(
      'Chart: Stock (Tonnes)\n\n| Step | Eel | Cod |\n| --- | --- | --- |\n| Start | 50.0% | 7 |\n| Catch | -12.5% |  |\n| End | 37.5% |  |',
    )
  })

  it('with all levels of a treemap, also where a branch has no leaf', async () => {
    const names = dimension(
      'str',
      'cat',
      level('', 'Robin', '', 'Tern'),
      level('', 'Garden', 'Cliff', 'Coast'),
      '<cx:lvl ptCount="0"/>',
    )
    const sizes = dimension('num', 'size', level('General', '3', '4', '5'))
    const colours = dimension('num', 'colorVal', level('General', '9', '9', '9'))
    const data = `<cx:data id="0">${names}${sizes}${colours}</cx:data>`
    expect(await textOfEx(chartEx(data, seriesEx('Pairs', 0)))).toMatch(
      /\| Garden Robin \| 3 \|\n\| Cliff \| 4 \|\n\| Coast Tern \| 5 \|$/,
    )
  })
})
