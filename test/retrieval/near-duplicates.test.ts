import { describe, expect, it } from 'vitest'
import { createDistinctTexts } from '../../src/retrieval/near-duplicates.ts'

const WORDS =
  `the owl sits in the old oak behind the barn and waits until the mice come out of the hay to eat
  what the hens have left on the ground when it grows dark and everybody else has gone to bed for the night
  because nobody but the owl can see them then and hear how they run from one corner to the other`.split(
    /\s+/,
  )
const text = (words: readonly string[] = WORDS) => words.join(' ')
const replaced = (at: number, by: string) => text(WORDS.with(at, by))

function takes(...texts: string[]): boolean[] {
  const distinct = createDistinctTexts()
  return texts.map((each) => distinct.add(each))
}

describe('a text', () => {
  it.each([
    ['that was taken before', text()],
    ['in capitals', text().toUpperCase()],
    ['with other blanks and marks', `“${text().replaceAll(' the ', ',\n the  ')}!”`],
    ['with one other word at its end', text([...WORDS.slice(0, -1), 'wall'])],
  ])('%s says nothing new', (_case, again) => {
    expect(takes(text(), again)).toEqual([true, false])
  })

  it.each([
    ['with other words', text(WORDS.toReversed())],
    ['of which half is the same', text([...WORDS.slice(0, 30), ...WORDS.toReversed()])],
    ['with a few words more', `${text()} and why should it not since it is hungry like all others`],
    ['with another number', replaced(20, 'mouse4')],
    ['that is empty', ''],
  ])('%s says something new', (_case, other) => {
    expect(takes(text(), other)).toEqual([true, true])
  })

  it('that differs in a number alone says something new', () => {
    expect(takes(replaced(20, '2024'), replaced(20, '2025'))).toEqual([true, true])
    expect(takes(replaced(20, '2024'), replaced(20, '2024').toUpperCase())).toEqual([true, false])
  })

  it('of few words says something new unless it is the very same', () => {
    expect(takes('Door four is open', 'Door four is shut', 'Door four is open')).toEqual([
      true,
      true,
      false,
    ])
    const [twenty, other] = [WORDS.slice(0, 20), [...WORDS.slice(0, 19), 'cat']]
    expect(takes(text(twenty), text(other))).toEqual([true, true])
  })

  it('that is a part of one that was taken says something new', () => {
    expect(takes(text(), text(WORDS.slice(0, 40)))).toEqual([true, true])
  })

  it.each([
    ['Hiragana', 0x3041],
    ['Katakana', 0x30a1],
    ['Thai', 0x0e01],
    ['Lao', 0x0e94],
    ['Khmer', 0x1780],
    ['Burmese', 0x1000],
  ])('without blanks is compared character by character: %s', (_script, first) => {
    const letters = String.fromCharCode(...Array.from({ length: 40 }, (_, i) => first + i))
    const others = [...letters].toReversed().join('')
    expect(takes(letters, `${letters}!`, others)).toEqual([true, false, true])
  })

  it('without blanks is compared character by character', () => {
    const chinese =
      '图书馆在工作日九点开门星期六十点开门星期日不开门读者可以借阅书籍和杂志也可以在馆内学习'
    expect(takes(chinese, `${chinese}。`, [...chinese].toReversed().join(''))).toEqual([
      true,
      false,
      true,
    ])
  })

  it('that is like one that was not taken itself is still compared with what was', () => {
    const almost = text([...WORDS.slice(0, -1), 'wall'])
    expect(takes(text(), almost, text())).toEqual([true, false, false])
  })
})
