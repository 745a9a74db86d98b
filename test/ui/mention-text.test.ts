import { expect, it } from 'vitest'
import { mentionAt, withMention } from '../../ui/chat/mention-text.ts'

it.each([
  ['#', { sign: '#', words: '', start: 0 }],
  ['What does #open', { sign: '#', words: 'open', start: 10 }],
  ['What does #opening hours', { sign: '#', words: 'opening hours', start: 10 }],
  ['First line\n#über', { sign: '#', words: 'über', start: 11 }],
  ['/', { sign: '/', words: '', start: 0 }],
  ['  /weekly-rep', { sign: '/', words: 'weekly-rep', start: 2 }],
  ['C#', undefined],
  ['# Heading', undefined],
  ['#one#two', undefined],
  ['#named\nthe next line', undefined],
  ['See /etc/hosts', undefined],
  ['/etc/hosts', undefined],
  ['/skill and more', undefined],
  [`#${'x'.repeat(80)}`, undefined],
])('In %j, what is being named is %j', (text, mention) => {
  expect(mentionAt(text, text.length)).toEqual(mention)
})

it('What is chosen takes the place of what was typed, before the rest of the question', () => {
  const text = 'What does #ope say?'
  const mention = mentionAt(text, 14)
  expect(mention).toBeDefined()
  if (!mention) return
  expect(withMention(text, mention, '“Opening hours”')).toEqual({
    text: 'What does “Opening hours” say?',
    caret: 25,
  })
  expect(withMention('#ope', { sign: '#', words: 'ope', start: 0 }, 'A')).toEqual({
    text: 'A ',
    caret: 2,
  })
  expect(withMention('In #hand', { sign: '#', words: 'hand', start: 3 }, '')).toEqual({
    text: 'In ',
    caret: 3,
  })
})
