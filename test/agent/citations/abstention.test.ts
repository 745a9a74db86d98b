import { createAnalyser } from '@agent-server/search'
import { describe, expect, it } from 'vitest'
import { abstains } from '../../../src/agent/citations/abstention.ts'
import { createCitations } from '../../../src/agent/citations/citations.ts'
import { hitOf } from '../../support/hit.ts'

const PASSAGES = [
  'A library card costs €15 a year. The ferry Marit sails to Skarholm four times a day.',
  'The contract says nothing of a deposit, and the documents do not mention a date.',
  'Der Bibliotheksausweis kostet 15 Euro im Jahr. Das Schiff Marit fährt viermal am Tag.',
  'El ferry Marit navega a Skarholm cuatro veces al día, salvo con viento fuerte.',
  'The ferry does not run on Sundays. No deposit is due under this contract.',
  'If no documents are found, the import stops. The context menu shows no information about locked files.',
  'Le bateau Marit part pour Skarholm quatre fois par jour, sauf en cas de vent fort.',
]

function shown(answer: string): string {
  const analyser = createAnalyser('english')
  const citations = createCitations()
  citations.add(PASSAGES.map((text, index) => ({ ...hitOf(`${index}`), title: '', text })))
  const check = citations.check(false, (text) => analyser.query(text).terms)
  return check.write(answer) + check.end()
}

describe('A sentence that says that the passages do not say something', () => {
  it.each([
    'The passages do not say whether a library card costs a child €15 a year.',
    "The documents don't mention what a library card costs for a child a year.",
    'None of the passages states how fast the ferry Marit sails to Skarholm.',
    'There is no information in the text about the library card of the ferry Marit.',
    'What a lost library card costs is not mentioned in the passages.',
    'I could not find in the documents how fast the ferry Marit sails to Skarholm.',
    'Neither passage gives the price of a library card for a child a year.',
    'The documents do not contain what a library card costs for a child a year.',
    'Die Dokumente sagen nicht, ob der Bibliotheksausweis 15 Euro im Jahr kostet.',
    'Ob der Bibliotheksausweis 15 Euro im Jahr kostet, steht nicht in den Textstellen.',
    'Los documentos no dicen cuándo el ferry Marit navega a Skarholm con viento fuerte.',
    'Les passages ne disent pas si le bateau Marit part pour Skarholm en cas de vent fort.',
  ])('gets no mark: %s', (answer) => {
    expect(shown(answer)).toBe(answer)
  })

  it.each([
    ['A library card costs €15 a year.', 1],
    ['A library card does not cost more than €15 a year.', 1],
    ['The documents say that a library card costs €15 a year.', 1],
    ['The documents do not mention a date.', 2],
    ['The document says that the ferry does not run on Sundays.', 5],
    ['The text states that no deposit is due under this contract.', 5],
    ['If no documents are found, the import stops.', 6],
    ['The context menu shows no information about locked files.', 6],
    ['Der Bibliotheksausweis kostet 15 Euro im Jahr.', 3],
  ])('is not this one: %s', (answer, source) => {
    expect(shown(answer)).toBe(`${answer.slice(0, -1)} [${source}].`)
  })
})

describe('An answer that cites nothing', () => {
  it.each([
    'The passages do not say what owls weigh.',
    'The passages do not say what owls weigh. They speak of mice.',
    'I don\u2019t know. The documents do not mention owls.',
    'I could not find information about that.',
    'Unfortunately, I cannot answer this.',
    'Leider kann ich dazu nichts finden.',
    'Ich weiß es nicht.',
    'No lo sé.',
    'Je ne sais pas.',
    'I\u2019m sorry, but I don\u2019t know.',
    'I don\u2019t have any information about that.',
    'I apologize for the inconvenience. The provided context does not contain this information.',
    'Thank you for your question. The documents do not mention a price.',
    'Es tut mir leid. Die Dokumente enthalten keine Angaben dazu.',
    'Je suis désolé. Les documents ne mentionnent pas le prix.',
    '**Answer to your question:**\n\nThe documents do not mention a price.',
  ])('abstains: %s', (answer) => {
    expect(abstains(answer, [])).toBe(true)
  })

  it.each([
    'Owls hunt mice at night and sleep by day. The passages do not say how much they weigh.',
    'Eulen jagen nachts Mäuse. Die Dokumente sagen nicht, was sie wiegen.',
    'I cannot tell the day, but the library opens at nine.',
    'Owls do not hunt by day.',
    'Ich kann bestätigen, dass keine Kaution nötig ist.',
    'Ich habe die Frist gefunden: Sie beträgt 30 Tage, nicht 20.',
    'I don\u2019t know of any exception: the fee is 20 euros.',
    'I do not find any restriction on pets, so pets are allowed.',
    'I cannot answer in one word. The fee is 20 euros per month and is due on the first.',
    'No.',
    '',
  ])('does not: %s', (answer) => {
    expect(abstains(answer, [])).toBe(false)
  })

  it('does not if it cites a passage for what it says', () => {
    const answer = 'The passages do not say what owls weigh. They eat mice [1].'
    const cited = (by: 'model' | 'server', statement: string) => [{ citation: { by }, statement }]
    expect(abstains(answer, cited('model', 'They eat mice'))).toBe(false)
    expect(abstains(answer, cited('server', 'The passages do not say it'))).toBe(false)
    expect(abstains(answer, cited('model', 'The passages do not say it'))).toBe(true)
  })
})
