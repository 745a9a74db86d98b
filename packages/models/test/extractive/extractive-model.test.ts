import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { processorMs } from '../../../../test/support/processor-time.ts'
import { createExtractiveModel } from '../../src/extractive/extractive-model.ts'
import { ask, LIBRARY, MUSEUM, NOTHING } from './ask.ts'

describe('an answer in quotes', () => {
  it('says what it is, and cites the passage of each quote', async () => {
    const { text, reason } = await ask('When was the library founded?')
    expect(text).toBe('From your documents:\n\n- The library was founded in 1901. [1]')
    expect(reason).toBe('stop')
  })

  it.each([
    ['Can loans be renewed?', 'A loan lasts four weeks. It can be renewed twice. [1]'],
    ['Who runs the corner for children?', "Dr. Smith runs the children's corner. [1]"],
    ['What is the fee for a late book?', 'Item: Late book, Fee: 20 cents per day [1]'],
    ['When does the cafe close?', 'The cafe opens at eight and closes at six. [2]'],
    ['opening hours', 'Monday to Friday: 9:00 to 19:00; Saturday: 10 to 14; Sunday: closed [1]'],
    ['HOW MANY BOOKS MAY I BORROW???', 'You can borrow ten books at a time. [1]'],
  ])('finds the best place for %s', async (question, quote) => {
    expect((await ask(question)).text.split('\n')[2]).toBe(`- ${quote}`)
  })

  it.each([
    'When does the library open on Mondays?',
    'What is the fee for a late book?',
    'opening hours',
    'And on Saturdays?',
    'Who runs the corner for children?',
  ])('is said to answer %s', async (question) => {
    expect((await ask(question)).text).toMatch(/^From your documents:/)
  })

  it.each([
    ['Who is the CEO of the company?', 'The CEO is Ann Lee.'],
    ['Wann muss ich die Miete bezahlen?', 'Die Miete ist am Ersten des Monats fällig.'],
    ['Quel est le montant du loyer ?', 'Le loyer est de 900 euros.'],
    ['租金是多少？', '租金为每月九百元。'],
  ])('is said to answer %s by %s', async (question, text) => {
    const { text: answer } = await ask(question, [
      { title: 'Notes', text: `${text}\n\nIt rains.\n\nIl pleut.` },
    ])
    expect(answer).toMatch(/^From your documents:/)
  })

  it.each([
    'Which volunteers painted the high walls of the museum?',
    'How often is the collection of maps dusted by robots?',
    'How much did the library cost when the mayor founded it in spring?',
    'When was the cafe painted and by which company?',
  ])('is said to perhaps not answer %s', async (question) => {
    const { text } = await ask(question)
    expect(text).toMatch(
      /^Your documents may not answer this\. The nearest passages:\n\n- .+ \[\d\]$/m,
    )
  })

  it('numbers passages by their place in the list', async () => {
    const { text } = await ask('When was the library founded?', [MUSEUM, MUSEUM, LIBRARY])
    expect(text).toContain('founded in 1901. [3]')
  })

  it('keeps a code block whole, with the sentence that introduces it', async () => {
    const { text } = await ask('How do I install the app?')
    expect(text).toContain(
      '- Install it with these commands: [1]\n\n  ```\n  npm ci\n  npm start\n  ```',
    )
  })

  it('takes the list along when it quotes the sentence that introduces it', async () => {
    const { text } = await ask('On which days is the library open?')
    expect(text).toContain(
      'The library is open on these days: Monday to Friday: 9:00 to 19:00; Saturday',
    )
  })

  it('leaves no emphasis open and no number that would pass for a citation', async () => {
    const { text } = await ask('How many books and maps does the collection hold?')
    expect(text).toContain('two hundred thousand books(3) and a collection of maps. [1]')
    expect((await ask('How many books may I borrow?')).text).not.toContain('**')
  })

  it('quotes at most four places, none of them twice', async () => {
    const same = { title: 'Copy', text: 'The library was founded in 1901 by the city.' }
    const more = Array.from({ length: 9 }, (_, year) => ({
      title: 'News',
      text: `In ${2001 + year} the library opened branch ${year} near the ${['park', 'lake', 'hill', 'gate', 'dock', 'mill', 'yard', 'farm', 'dome'][year]}.`,
    }))
    const { text } = await ask('What happened to the library?', [same, same, same, ...more])
    const quotes = text.split('\n').filter((line) => line.startsWith('- '))
    expect(quotes.length).toBeLessThanOrEqual(4)
    expect(new Set(quotes.map((quote) => quote.replace(/ \[\d+\]$/, ''))).size).toBe(quotes.length)
  })

  it('prefers the passage that was found first when two say the same', async () => {
    const say = (title: string) => ({ title, text: 'The gate closes at noon on Fridays.' })
    const { text } = await ask('When does the gate close?', [say('one'), say('two')])
    expect(text).toMatch(/closes at noon on Fridays\. \[1\]$/)
  })

  it('cuts a quote that never ends', async () => {
    const endless = { title: '', text: `The gate ${'and the wall '.repeat(400)}closes.` }
    const { text } = await ask('gate', [endless])
    expect(text.length).toBeLessThan(600)
  })
})

describe('a greeting', () => {
  it.each(['Hello, who are you?', 'hi', 'What can you do?', 'Hey there!'])(
    'is returned to %s, with what can be asked',
    async (message) => {
      const { text } = await ask(message)
      expect(text).toMatch(/^Hello! I answer questions by quoting your documents/)
    },
  )

  it.each(['Hello, when was the library founded?', 'founded?'])(
    'does not replace the answer to %s',
    async (message) => {
      expect((await ask(message)).text).toContain('founded in 1901')
    },
  )
})

describe('a question that leans on the one before', () => {
  it('is understood with it', async () => {
    const { text } = await ask('', undefined, {
      messages: [
        { role: 'user', content: 'When does the library open?' },
        { role: 'assistant', content: 'At nine.' },
        { role: 'user', content: 'and on Sunday?' },
      ],
    })
    expect(text).toContain('Sunday: closed [1]')
  })

  it('is separated from the passages in the same message', async () => {
    const block = `<passages>\n[1] Library guide\n${LIBRARY.text}\n</passages>\n\n`
    expect((await ask(`${block}When was it founded?`)).text).toContain('founded in 1901. [1]')
    expect((await ask(`${block}What is the capital of Mongolia?`)).text).toBe(NOTHING)
  })
})

describe('where nothing fits', () => {
  it.each([
    ['a question about something else', 'What is the capital of Mongolia?', [LIBRARY, MUSEUM]],
    ['no passages', 'When does the library open?', []],
    ['empty passages', 'When does the library open?', [{ title: '', text: '' }]],
    ['an empty question', '', [LIBRARY]],
    ['a question of marks only', '?!… 👍', [LIBRARY]],
    ['a question of words that say nothing', 'what is it', [LIBRARY]],
  ])('says so for %s', async (_case, question, chunks) => {
    const { text, reason } = await ask(question, chunks)
    expect(text).toBe(NOTHING)
    expect(reason).toBe('stop')
  })
})

describe('other languages', () => {
  it.each([
    [
      'Chinese',
      '图书馆几点开门？',
      '图书馆成立于1901年。图书馆上午九点开门，晚上七点关门。周日闭馆。',
      '图书馆上午九点开门',
    ],
    [
      'Japanese',
      '図書館は何時に開きますか',
      '図書館は1901年に設立されました。図書館は九時に開きます。',
      '九時に開きます',
    ],
    ['Thai', 'ห้องสมุดเปิดกี่โมง', 'พิพิธภัณฑ์ปิดวันจันทร์\nห้องสมุดเปิดเวลาเก้าโมง', 'ห้องสมุดเปิดเวลาเก้าโมง'],
    [
      'German',
      'Wann öffnet die Bücherei?',
      'Die Ausleihe dauert vier Wochen. Die Bücherei öffnet um neun Uhr.',
      'öffnet um neun Uhr',
    ],
    [
      'Spanish',
      '¿Cuándo abre la biblioteca?',
      'El préstamo dura un mes. La biblioteca abre a las nueve.',
      'La biblioteca abre a las nueve.',
    ],
    [
      'Russian',
      'Когда открывается библиотека?',
      'Срок — месяц. Библиотека открывается в девять.',
      'Библиотека открывается в девять.',
    ],
    [
      'Arabic',
      'متى تفتح المكتبة؟',
      'مدة الإعارة شهر. تفتح المكتبة في التاسعة.',
      'تفتح المكتبة في التاسعة.',
    ],
  ])('%s is searched too', async (_language, question, text, quote) => {
    expect((await ask(question, [{ title: '', text }])).text).toContain(quote)
  })
})

describe('the stream', () => {
  it('comes in words, also in scripts without spaces', async () => {
    const { deltas } = await ask('When was the library founded?')
    expect(deltas.slice(0, 3)).toEqual(['From ', 'your ', 'documents:\n\n'])
    const chinese = await ask('图书馆', [{ title: '', text: '图书馆成立'.repeat(30) }])
    expect(Math.max(...chinese.deltas.map((delta) => delta.length))).toBeLessThanOrEqual(20)
  })

  it('stops at the token limit, and says so', async () => {
    const { text, reason, usage } = await ask('When was the library founded?', undefined, {
      sampling: { maxTokens: 6 },
    })
    expect(text).toBe('From your documents:\n\n- ')
    expect(reason).toBe('length')
    expect(usage?.completionTokens).toBeLessThanOrEqual(6)
  })

  it('estimates a token per four bytes', async () => {
    const { usage, text } = await ask('When was the library founded?')
    expect(usage).toEqual({ promptTokens: 8, completionTokens: Math.ceil(text.length / 4) })
  })

  it('never calls a tool', async () => {
    const tool = { name: 'search', description: '', parameters: {} }
    expect(createExtractiveModel().supportsTools).toBe(false)
    expect((await ask('When was it founded?', undefined, { tools: [tool] })).text).toContain('1901')
  })
})

describe('long and hostile passages', () => {
  it('leave turns of the event loop to others', async () => {
    const chunks = Array.from({ length: 100 }, () => LIBRARY)
    let turns = 0
    let done = false
    const counting = (async () => {
      while (!done) {
        turns += 1
        await nextTurn()
      }
    })()
    await ask('When does the library open?', chunks)
    done = true
    await counting
    expect(turns).toBeGreaterThan(50)
  })

  it('are given up between two passages when the caller leaves', async () => {
    const controller = new AbortController()
    const reason = new Error('left')
    const chunks = Array.from({ length: 1_000 }, () => LIBRARY)
    const messages = [{ role: 'user' as const, content: 'When does the library open?' }]
    const request = { messages, tools: [], sampling: {}, chunks }
    const first = createExtractiveModel().stream(request, controller.signal).next()
    setImmediate(() => controller.abort(reason))
    await expect(first).rejects.toBe(reason)
  })

  it.each([
    ['one word without an end', 'a'.repeat(200_000)],
    ['only marks', '*_`|#>-[]()'.repeat(20_000)],
    ['only backticks', '`'.repeat(200_000)],
    ['only pipes', '|'.repeat(200_000)],
    ['a fence that never closes', `\`\`\`\n${'gate\n'.repeat(50_000)}`],
    ['deep quotes', `${'>'.repeat(100_000)} gate`],
    ['lone surrogates', '\ud800gate\udfff '.repeat(10_000)],
    ['zero bytes', 'gate\u0000 '.repeat(20_000)],
    ['abbreviations only', 'Dr. '.repeat(50_000)],
    ['combining marks', `g${'\u0301'.repeat(100_000)}ate`],
    ['many short lines', '- gate\n'.repeat(50_000)],
  ])('%s is read in bounded time', async (_case, text) => {
    const started = processorMs()
    const quoted = await ask('When does the gate close?', [{ title: 'x', text }])
    expect(quoted.reason).toBe('stop')
    expect(quoted.text.length).toBeLessThan(6_000)
    expect(processorMs() - started).toBeLessThan(1_000)
  })
})
