import { describe, expect, it } from 'vitest'
import { processorMs } from '../../../../test/support/processor-time.ts'
import { extractPdf } from '../../src/formats/pdf.ts'
import { rawPdf, text } from './raw-pdf.ts'

const read = async (content: string) => (await extractPdf(rawPdf(content))).text.trim()

describe('A text that is drawn again a little aside, to be bold, is read once', () => {
  it('as a whole', async () => {
    const copies = [0, 0.3, 0.6].map((aside) =>
      text('Closed for 44 days', 72 + aside, 700 + aside / 2),
    )
    expect(await read(copies.join(''))).toBe('Closed for 44 days')
  })

  it('letter by letter', async () => {
    const letters: readonly (readonly [string, number])[] = [
      ['T', 72],
      ['o', 79.33],
      ['l', 86],
      ['l', 88.67],
      ['3', 96],
      ['3', 102.67],
    ]
    const copies = letters.map(([letter, x]) => text(letter, x, 700) + text(letter, x + 0.3, 700))
    expect(await read(copies.join(''))).toBe('Toll 33')
  })

  it('line by line in other parts', async () => {
    const first = text('Harbour', 72, 700) + text('office', 119, 700)
    expect(await read(first + text('Harbour office', 72.3, 700))).toBe('Harbour office')
  })

  it('on its side', async () => {
    const turned = (words: string, x: number, y: number) =>
      `BT /F1 12 Tf 0 1 -1 0 ${x} ${y} Tm (${words}) Tj ET\n`
    const copies = turned('Pier 77', 72, 300) + turned('Pier 77', 72.4, 300.3)
    const upright = text('A plan of the southern harbour', 72, 700)
    expect(await read(upright + copies + turned('Pier 77', 120, 300))).toBe(
      'A plan of the southern harbour\n\nPier 77\nPier 77',
    )
  })

  it('but not where it stands beside itself', async () => {
    const texts = text('77', 72, 700) + text('77', 85.4, 700) + text('77', 120, 700)
    expect(await read(texts)).toBe('7777 77')
  })

  it('in time that grows with the page', async () => {
    const page = (count: number) =>
      Array.from({ length: count }, (_, n) =>
        text('0', 10 + (n % 80) * 7, 790 - Math.floor(n / 80) * 7, 6),
      )
    const timeOf = async (count: number) => {
      const started = processorMs()
      await read(page(count).join(''))
      return processorMs() - started
    }
    await timeOf(500)
    expect(await timeOf(8_000)).toBeLessThan(5_000)
  })
})

describe('Letter-spaced words', () => {
  it.each([1.5, 2, 4, 7])('are whole, with %f points between their letters', async (space) => {
    expect(await read(text('Quay B118 is shut', 72, 700, 11, `${space} Tc`))).toBe(
      'Quay B118 is shut',
    )
  })

  it('are whole where each letter is moved', async () => {
    const letters = '[(Q)-400(u)-400(a)-400(y)-1100(B)-400(1)-400(1)-400(8)] TJ'
    expect(await read(`BT /F1 12 Tf 72 700 Td ${letters} ET`)).toBe('Quay B118')
  })

  it('are whole where each letter is drawn for itself', async () => {
    const letters = [...'CLOSED'].map((letter, n) => text(letter, 72 + n * 16, 700))
    expect(await read(letters.join(''))).toBe('CLOSED')
  })

  it('are whole within a sentence', async () => {
    const line = 'BT /F1 12 Tf 72 700 Td (The ) Tj 4 Tc (harbour) Tj 0 Tc ( is shut) Tj ET'
    expect(await read(line)).toBe('The harbour is shut')
  })

  it('are told from series of letters and of numbers', async () => {
    expect(await read(text('a b c d', 72, 700) + text('1 2 3 4 5', 72, 650))).toBe(
      'a b c d\n\n1 2 3 4 5',
    )
  })
})

describe('Signs above and below the line', () => {
  it('do not become a part of the number before them', async () => {
    const line = [
      '/F1 12 Tf (The fee is 45) Tj /F1 7 Tf 5 Ts (2) Tj 0 Ts /F1 12 Tf ( crowns for 10) Tj',
      '/F1 7 Tf 5 Ts (6) Tj 0 Ts /F1 12 Tf ( litres of H) Tj /F1 7 Tf -2 Ts (2) Tj 0 Ts /F1 12 Tf (O.) Tj',
    ]
    expect(await read(`BT 72 700 Td ${line.join(' ')} ET`)).toBe(
      'The fee is 45^2 crowns for 10^6 litres of H₂O.',
    )
  })
})

describe('A word divided at the end of a line', () => {
  const lines = (...all: readonly string[]) =>
    all.map((line, n) => text(line, 72, 700 - n * 14)).join('')

  it('is one word', async () => {
    expect(await read(lines('Every light-', 'house in the infor-', 'mation service'))).toBe(
      'Every lighthouse in the information service',
    )
  })

  it('keeps a hyphen that it has elsewhere, or that its parts usually have', async () => {
    expect(await read(lines('A well-', 'known quay-', 'side path, a quay-side shop'))).toBe(
      'A well-known quay-side path, a quay-side shop',
    )
  })
})
