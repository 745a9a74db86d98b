import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { JobRefusal } from '../../../src/lib/processes/job.ts'
import { ChartRequest, createCharts, toSpecification } from '../../../src/services/charts/charts.ts'
import { fontsFor } from '../../../src/services/charts/render.ts'
import { createRunnerHere } from '../../support/run-job.ts'

const USUAL = ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf']
const CHINESE = 'NotoSansHans-Regular.otf'
const KOREAN = 'NotoSansKR-Regular.otf'
const drawing = (text: string) => `<svg aria-label="ส"><text x="1">${text}</text></svg>`

describe('The fonts of a drawing', () => {
  it.each([
    ['Latin, Greek, Cyrillic', 'Ångström Ελλάς Привет &amp; &lt;', USUAL],
    ['Arabic and Hebrew', 'القاهرة ירושלים', USUAL],
    ['symbols', 'ok ☺ 😀 ✓', USUAL],
    ['Chinese and Japanese', '北京 東京都 ひらがな', [...USUAL, CHINESE]],
    ['Korean', '서울', [...USUAL, KOREAN]],
    ['all of them', '北京 서울', [...USUAL, CHINESE, KOREAN]],
    ['nothing', '', USUAL],
    ['signs without form', 'a\u200d\ufe0f\u200f b', USUAL],
  ])('hold every sign of its texts: %s', async (_case, text, names) => {
    expect((await fontsFor(drawing(text))).map((path) => basename(path))).toEqual(names)
  })

  it.each([
    ['สวัสดี', 'There is no sign for ส ว ั ด ี to draw the chart with: name these things otherwise'],
    ['北京 🦜', 'There is no sign for 🦜 to'],
    ['अआइईउऊऋएऐओऔक', 'अ आ इ ई उ ऊ ऋ ए ऐ ओ … to'],
  ])('that none has are told: %s', async (text, expected) => {
    await expect(fontsFor(drawing(text))).rejects.toThrow(expected)
    await expect(fontsFor(drawing(text))).rejects.toBeInstanceOf(JobRefusal)
  })
})

describe('A chart in any script', () => {
  const draw = (city: string) => {
    const rows = [{ city, n: 3 }]
    const more = { x: { field: 'city' }, y: { field: 'n' } }
    const request = ChartRequest.parse({ mark: 'bar', rows, ...more, width: 200, height: 100 })
    const { signal } = new AbortController()
    return createCharts(createRunnerHere()).render(toSpecification(request, rows), signal)
  }

  it('is drawn with its words: each gives another picture', async () => {
    const cities = ['北京', '東京', '서울', 'القاهرة', 'Рига']
    const pictures = await Promise.all(cities.map(async (city) => (await draw(city)).png))
    const distinct = new Set(pictures.map((png) => Buffer.from(png).toString('base64')))
    expect(distinct.size).toBe(cities.length)
  })

  it('is refused rather than drawn with boxes', async () => {
    await expect(draw('สวัสดี')).rejects.toThrow(JobRefusal)
  })
})
