import { describe, expect, it } from 'vitest'
import { createProgressBar } from '../../src/commands/command.ts'

function draw(isTTY: boolean, columns = 200) {
  const written: string[] = []
  const bar = createProgressBar({ isTTY, columns, write: (text) => written.push(text) }, 'copying')
  return { bar, written, text: () => written.join('').replaceAll('\r\u001b[K', '|') }
}

describe('A progress bar', () => {
  it('shows the progress, and clears its line at the end', () => {
    const { bar, text } = draw(true)
    bar.update(50, 200, 'half of a half')
    bar.update(200, 200)
    bar[Symbol.dispose]()
    expect(text()).toMatch(
      /^\|copying █{6}░{18} 50 of 200 \(25 %\), 1 s left half of a half\|copying █{24} 200 of 200 \(100 %\)\|$/,
    )
  })

  it('draws no more often than anybody can see', () => {
    const { bar, written } = draw(true)
    for (let done = 1; done < 100; done++) bar.update(done, 1_000)
    expect(written.length).toBeLessThan(10)
  })

  it('stays within its line', () => {
    const { bar, written } = draw(true, 20)
    bar.update(1, 2)
    expect(written.join('').replace('\r\u001b[K', '')).toHaveLength(19)
  })

  it('an empty total counts as complete', () => {
    const { bar, text } = draw(true)
    bar.update(0, 0)
    expect(text()).toContain('0 of 0 (100 %)')
  })

  it('writes nothing when the output is not a terminal', () => {
    const { bar, written } = draw(false)
    bar.update(1, 2)
    bar[Symbol.dispose]()
    expect(written).toEqual([])
  })
})
