import { expect, it } from 'vitest'
import { turnOf } from '../../src/formats/pdf-fragments.ts'

const text = (letters: number, degrees: number) => {
  const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)]
  return {
    str: 'x'.repeat(letters),
    width: letters * 5,
    height: 10,
    transform: [cos, sin, -sin, cos, 0, 0].map((value) => value * 10),
  }
}
/** As a page of its usual height is shown: counted from the top. */
const VIEW = [1, 0, 0, -1, 0, 800]

it.each([
  ['upright', [text(90, 0), text(10, 90)], 0],
  ['on its side', [text(10, 0), text(90, 90)], 90],
  ['under labels of a chart that have more letters', [text(40, 0), text(60, 90)], 0],
  ['under a longer watermark', [text(30, 0), text(70, 60)], 0],
])('A page that is %s is turned as a reader holds it', (_case, items, turn) => {
  expect(turnOf(items, VIEW)).toBe(turn)
})
