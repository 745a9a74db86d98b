import { type AskedQuestion, evaluateAnswers } from '@agent-server/evaluation'
import { describe, expect, it } from 'vitest'
import { AgentServer } from '../../packages/client/src/agent-server.ts'
import { createAsking } from '../../scripts/eval/asking.ts'
import { ingestCollection } from '../../scripts/eval/ingest.ts'
import { judgeAt } from '../../scripts/eval/judge-model.ts'
import { promptOf } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, TEST_KEY } from '../support/server.ts'
import { errorReply, jsonReply, textReply } from '../support/upstream-replies.ts'

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
const client = new AgentServer({ baseURL: server.url, apiKey: TEST_KEY })

const question = (id: string, text: string, right: string[], facts: string[]): AskedQuestion => {
  return { id, text, relevant: new Map(right.map((document) => [document, 1])), facts }
}
const collection = {
  documents: () => [
    { _id: 'hours', title: 'Opening hours', text: 'The library opens at nine on weekdays.' },
    { _id: 'lending', title: 'Lending', text: 'The library lends books for four weeks.' },
  ],
  questions: [
    question('1', 'When does the library open?', ['hours'], ['nine', '9:00']),
    question('2', 'How long does the library lend books?', ['lending'], ['four weeks']),
    question('3', 'What does the library charge?', [], []),
    { id: '4', text: 'Not about a fact', relevant: new Map([['hours', 1]]) },
  ],
}
const progress = () => undefined
const { ids } = await ingestCollection(collection, client, progress)
const { answer: ask } = createAsking({ client, ids })

const numberOf = (prompt: string, title: string) =>
  prompt.indexOf(title) < prompt.indexOf(title === 'Lending' ? 'Opening hours' : 'Lending') ? 1 : 2

/** The model answers what a test makes of the last message of the prompt. */
function answering(write: (prompt: string) => string): void {
  upstream.always((request) => {
    const reply = textReply(write(promptOf(request, 'user')))
    return typeof reply === 'function' ? reply(request) : reply
  })
}

const completion = (content: string) => jsonReply({ choices: [{ message: { content } }] })

describe('Answers to questions with facts', () => {
  it('are measured by fact, citations, support and abstention', async () => {
    answering((prompt) => {
      const hours = numberOf(prompt, 'Opening hours')
      if (prompt.includes('When does')) return `It opens at nine on weekdays [${hours}].`
      // The fact is wrong, and so is the passage.
      if (prompt.includes('How long'))
        return `The library opens for 7 weeks on weekdays [${hours}].`
      return 'The passages do not say what it charges.'
    })
    const measured = await evaluateAnswers(collection.questions, { ask, progress })
    expect(measured).toMatchObject({
      answerable: 2,
      unanswerable: 1,
      right: 0.5,
      wronglyAbstained: 0,
      citationPrecision: 0.5,
      citationRecall: 0.5,
      citedByModel: 0.5,
      unsupported: 0.5,
      abstained: 1,
    })
    expect(measured.asked.map(({ id, values }) => [id, values])).toEqual([
      ['1', { right: 1, cited: 1, citedByModel: 1, unsupported: 0 }],
      ['2', { right: 0, cited: 0, citedByModel: 0, unsupported: 1 }],
      ['3', { abstained: 1 }],
    ])
  })

  it('tell the citations of the model from those that the server adds', async () => {
    answering((prompt) => {
      const [hours, lending] = ['Opening hours', 'Lending'].map((title) => numberOf(prompt, title))
      if (prompt.includes('When does')) return 'The library opens at nine on weekdays.'
      // The server puts the right mark in the place of the wrong one, and adds one.
      return `The library lends books for four weeks [${hours}].\n\nBooks are lent for four weeks. [${lending}]`
    })
    const measured = await evaluateAnswers(collection.questions.slice(0, 2), { ask, progress })
    expect(measured).toMatchObject({ right: 1, citationRecall: 1, citedByModel: 0.5 })
    expect(measured.asked.map(({ values }) => values['citedByModel'])).toEqual([0, 1])
  })

  it('are judged by a model, if there is one', async () => {
    upstream.always(textReply('Around 9 in the morning.'))
    const asked: object[] = []
    const judge = async (each: object) => {
      asked.push(each)
      return { right: true, abstained: false }
    }
    const measured = await evaluateAnswers(collection.questions, { ask, progress, judge })
    expect(measured).toMatchObject({ right: 1, abstained: 0, citationRecall: 0 })
    expect(asked[0]).toEqual({
      question: 'When does the library open?',
      facts: ['nine', '9:00'],
      answer: 'Around 9 in the morning.',
    })
  })

  it('are refused where no question has facts', async () => {
    const measured = evaluateAnswers(collection.questions.slice(3), { ask, progress })
    await expect(measured).rejects.toThrow('No question of the set has facts')
  })
})

describe('A judge', () => {
  const asked = { question: 'When?', facts: ['nine'], answer: 'At nine.' }
  const judge = judgeAt({ model: 'judge', url: upstream.url, key: 'k' })

  it('is asked with the fact, and may think aloud', async () => {
    upstream.always(completion('Well {so} it is right.\n{"right": true, "abstained": false}'))
    expect(await judge(asked)).toEqual({ right: true, abstained: false })
    expect(promptOf(upstream.requests.at(-1), 'user')).toContain('"facts":"nine"')
  })

  it('without a verdict fails the evaluation', async () => {
    upstream.always(completion('I do not know'))
    await expect(judge(asked)).rejects.toThrow('The judge gave no verdict on: When?')
    upstream.always(errorReply(500))
    await expect(judge(asked)).rejects.toThrow('The judge answered 500')
  })
})
