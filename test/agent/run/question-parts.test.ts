import { stopWordsOf } from '@agent-server/search'
import { describe, expect, it } from 'vitest'
import { partsOf } from '../../../src/agent/run/question-parts.ts'
import { processorMs } from '../../support/processor-time.ts'

const stopWords = new Set(stopWordsOf('english'))
const parts = (message: string) => partsOf(message, (word) => stopWords.has(word))

describe('A message', () => {
  it.each([
    [
      'When does the library open on Saturdays and how much does an overdue book cost?',
      ['When does the library open on Saturdays', 'how much does an overdue book cost?'],
    ],
    [
      'I lost my card. What does a new card cost? And when do the trams stop at night?',
      ['I lost my card. What does a new card cost?', 'And when do the trams stop at night?'],
    ],
    [
      'Wann öffnet die Bücherei und was kostet ein neuer Ausweis?',
      ['Wann öffnet die Bücherei', 'was kostet ein neuer Ausweis?'],
    ],
    [
      '¿Cuándo abre la biblioteca y cuánto cuesta un carné nuevo?',
      ['¿Cuándo abre la biblioteca', 'cuánto cuesta un carné nuevo?'],
    ],
    [
      'Quand ouvre la bibliothèque et combien coûte une nouvelle carte ?',
      ['Quand ouvre la bibliothèque', 'combien coûte une nouvelle carte ?'],
    ],
    [
      'Who founded the club? Who is the keeper of the German side? Where did they win?',
      ['Who founded the club?', 'Who is the keeper of the German side? Where did they win?'],
    ],
  ])('is divided into questions that stand alone: %s', (message, expected) => {
    expect(parts(message)).toEqual(expected)
  })

  it.each([
    'When does the library open?',
    'When does the library open? Please answer in two sentences.',
    'What is the fee, and when is it due?',
    'How much is it? And on Sundays?',
    'Which books were lent and never returned?',
    'Describe the rules for guests and dogs.',
    'How and when did the plague enter Europe?',
    'books that were lent and which were never returned to the library',
    'Is this so? '.repeat(3),
    'What is a person who works at night and who has small children entitled to?',
    'Wie hoch ist die Gebühr und wer zahlt?',
    'Where is the north gate? Where is the south gate? Where is the east gate? Where is the west gate?',
    '???',
    '',
  ])(
    'with one question, parts that need each other, or more than three is searched for as a whole: %s',
    (message) => {
      expect(parts(message)).toEqual([message])
    },
  )

  it.each(['a? ', 'and how ', '? ', ' ', 'what ', ', and '])(
    'of %j again and again takes no longer than another one',
    (shape) => {
      const before = processorMs()
      parts(shape.repeat(1_500 / shape.length))
      parts(shape.repeat(1_000_000))
      expect(processorMs() - before).toBeLessThan(200)
    },
  )
})
