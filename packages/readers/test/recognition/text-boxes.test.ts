import { describe, expect, it } from 'vitest'
import { isLong, long } from '../../../../test/support/long.ts'
import { processorMs } from '../../../../test/support/processor-time.ts'
import { boxesIn } from '../../src/recognition/text-boxes.ts'

/** A map of 200 by 100 with a likely rectangle, turned around its centre. */
function mapWith(
  boxes: readonly (readonly [x: number, y: number, w: number, h: number])[],
  turn = 0,
) {
  const [width, height] = [200, 100]
  const likely = new Float32Array(width * height)
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)]
  for (const [cx, cy, w, h] of boxes) {
    for (let at = 0; at < likely.length; at++) {
      const [x, y] = [(at % width) - cx, Math.floor(at / width) - cy]
      const isIn = Math.abs(x * cos + y * sin) <= w / 2 && Math.abs(y * cos - x * sin) <= h / 2
      if (isIn) likely[at] = 0.9
    }
  }
  return { width, height, likely }
}

describe('A line of text on a map', () => {
  it('is a box around it, larger by what the model leaves out', () => {
    const [box, ...more] = boxesIn(mapWith([[100, 50, 120, 10]]))
    expect(more).toEqual([])
    expect(box?.x).toBeCloseTo(100, -0.5)
    expect(box?.y).toBeCloseTo(50, -0.5)
    // 121 by 11, and 1.6 times their product by their sum.
    expect(box?.width).toBeCloseTo(121 + 16, -1)
    expect(box?.height).toBeCloseTo(11 + 16, -0.5)
    expect(box?.angle).toBeCloseTo(0)
  })

  it.each([0.15, -0.3])('is askew by %s', (angle) => {
    const [box] = boxesIn(mapWith([[100, 50, 120, 10]], angle))
    expect(box?.angle).toBeCloseTo(angle, 1)
    expect(box?.width).toBeGreaterThan(4 * (box?.height ?? 0))
  })

  it('is one of several, without specks and what is unlikely', () => {
    const map = mapWith([
      [50, 20, 60, 8],
      [150, 20, 60, 8],
      [100, 80, 8, 30],
      [180, 90, 1, 1],
    ])
    const places = boxesIn(map).map(({ x, y }) => [Math.round(x / 10), Math.round(y / 10)])
    expect(places.toSorted()).toEqual(
      [
        [10, 8],
        [15, 2],
        [5, 2],
      ].toSorted(),
    )
    const faint = { ...map, likely: map.likely.map((value) => value * 0.37) }
    expect(boxesIn(faint)).toEqual([])
  })

  it('may be anything in little time', long, () => {
    const size = isLong ? 2_000 : 1_000
    const started = processorMs()
    const noise = Float32Array.from({ length: size * size }, (_, at) =>
      (Math.imul(at, 2_654_435_761) >>> 16) % 7 < 2 ? 0.9 : 0,
    )
    expect(boxesIn({ width: size, height: size, likely: noise }).length).toBeLessThanOrEqual(1_000)
    const full = new Float32Array(size * size).fill(1)
    expect(boxesIn({ width: size, height: size, likely: full })).toHaveLength(1)
    expect(processorMs() - started).toBeLessThan(15_000)
  })
})
