import { describe, expect, it } from 'vitest'
import type { Step } from '../../ui/chat/turns.ts'
import { loadComponents } from './render.ts'

type Component = (properties: never) => unknown

interface Exports {
  ChunkText: Component
  ErrorNote: Component
  Prose: Component
  SaveBar: Component
  SettingField: Component
  Steps: Component
  Waiting: Component
  parseFilter(text: string): unknown
  placeOf(chunk: object, quotes?: readonly object[]): string
}

const ui = await loadComponents<Exports>(
  'admin/setting-field.tsx',
  'chat/steps.tsx',
  'chat/waiting.tsx',
  'parts/chunk-facts.tsx',
  'parts/filter-field.tsx',
  'parts/notes.tsx',
)

const step = (more: Partial<Step> = {}): Step => ({
  callId: '1',
  tool: 'semantic_search',
  input: { query: 'owls' },
  ...more,
})

describe('The steps of an answer', () => {
  const draw = (all: readonly Step[], isAnswering = false) =>
    ui.render(ui.Steps, { steps: all, isAnswering })

  it('are nothing where no tool was called', () => {
    expect(draw([])).toBe('')
  })

  it('say what is being done, and afterwards how many there were', () => {
    expect(draw([step()], true)).toMatch(/<summary>.*Searching the documents for “owls”/)
    const done = step({ output: '<passages>\n</passages>', isError: false, milliseconds: 1_200 })
    const failed = step({ callId: '2', output: 'No.', isError: true, milliseconds: 4 })
    expect(draw([done])).toMatch(/<summary>1 step<\/summary>.*<span class="hint"> 1\.2 s<\/span>/)
    expect(draw([done, failed])).toContain('<summary>2 steps, 1 without a result</summary>')
  })

  it('say how far a call is while it runs', () => {
    const running = step({ tool: 'mcp__home__lamp', progress: 'Wire 1 (50 %)' })
    expect(draw([running], true)).toMatch(/<summary>.*: Wire 1 \(50 %\).*<\/summary>/)
    const done = { ...running, output: 'It is on.', isError: false, milliseconds: 900 }
    expect(draw([done])).not.toContain('Wire 1')
  })

  it('show fifty of a long run, and count the rest', () => {
    const many = Array.from({ length: 53 }, (_, n) =>
      step({ callId: `${n}`, output: '', isError: false }),
    )
    const drawn = draw(many)
    expect(drawn).toContain('<li class="hint">3 earlier steps</li>')
    expect(drawn.match(/class="step-input"/g)).toHaveLength(50)
  })

  it('show what a tool has said as text, whatever it is', () => {
    const drawn = draw([
      step({ input: { code: '<script>' }, output: '<img src=x>', isError: true }),
    ])
    expect(drawn).toContain('&lt;script>')
    expect(drawn).toContain('&lt;img src=x>')
    expect(drawn).not.toMatch(/<(?:script|img)/)
  })

  it('show passages with their sources, and cut a long text', () => {
    const output = '<passages>\n[1] Owls hoot.\n(Birds > Owls)\n\n[2] Larks sing.\n</passages>'
    const drawn = draw([step({ output, isError: false })])
    expect(drawn).toMatch(/<span class="place">1<\/span>.*<strong>Birds > Owls: <\/strong>/)
    expect(drawn).toContain('Larks sing.')
    const long = draw([step({ output: 'x'.repeat(4_100), isError: false })])
    expect(long).toContain('100 more characters')
  })
})

describe('Calls that wait', () => {
  const call = (callId: string, more: object = {}) => ({
    callId,
    tool: 'mcp__crm__send_mail',
    input: { to: 'a@b.example' },
    ...more,
  })
  const draw = (...calls: object[]) =>
    ui.render(ui.Waiting, {
      approval: { calls, state: 's' },
      isBusy: false,
      onDecide: null,
    })
  const asking = (properties: object, required: readonly string[] = []) =>
    draw(
      call('1', {
        elicitations: [{ id: 'e', message: 'Who?', requestedSchema: { properties, required } }],
      }),
    )

  it('are approved or refused, with all that they would do', () => {
    const drawn = draw(call('1'))
    expect(drawn).toContain('<strong>send_mail (crm)</strong> needs your approval:')
    expect(drawn).toContain('a@b.example')
    expect(drawn).toMatch(/Approve<.*Refuse</)
    expect(drawn).not.toContain('type="checkbox"')
  })

  it('have a mark each where there are several', () => {
    const drawn = draw(call('1'), call('2'))
    expect(drawn.match(/type="checkbox" name="[12]" checked/g)).toHaveLength(2)
    expect(drawn).toMatch(/Approve selected<.*Refuse all</)
  })

  it('ask what their server asks, and say what may be left out', () => {
    const drawn = asking({ name: { type: 'string', title: 'Name' }, age: { type: 'integer' } }, [
      'name',
    ])
    expect(drawn).toContain('<strong>send_mail (crm)</strong> asks: Who?')
    expect(drawn).toMatch(/>Name<\/label>/)
    expect(drawn).toMatch(/>age \(optional\)<\/label>/)
    expect(drawn).toMatch(/Send<.*Decline</)
  })

  it.each<[object, RegExp]>([
    [{ type: 'integer', minimum: 1, maximum: 9 }, /min="1" max="9".*type="number" step="1"/],
    [{ type: 'number' }, /type="number" step="any"/],
    [{ type: 'string', format: 'email' }, /type="email"/],
    [{ type: 'string', format: 'date-time' }, /type="datetime-local"/],
    [{ type: 'string', default: 'x' }, /value="x" type="text"/],
    [{ type: 'boolean', default: true }, /type="checkbox" checked/],
    [
      { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'], default: 'b' },
      /<option value="b" selected>B</,
    ],
    [{ type: 'array', items: { enum: ['a'] } }, /<select[^>]* multiple/],
  ])('have a field of its kind for %j', (field, markup) => {
    expect(asking({ field })).toMatch(markup)
  })
})

describe('The place of a passage', () => {
  const chunk = {
    text: '# Birds\nIntro.\n## Owls\nOwls hoot.\n## Larks\nLarks sing.',
    start: 100,
    heading: 'Birds',
  }
  const quoteAt = (words: string, page?: number) => ({
    text: words,
    start: chunk.start + chunk.text.indexOf(words),
    ...(page !== undefined && { page }),
  })

  it.each<[string, object]>([
    ['', {}],
    ['page 3', { page: 3 }],
    ['pages 3–5', { page: 3, pageEnd: 5 }],
    ['sheet Costs · row 7', { sheet: 'Costs', row: 7 }],
    ['a model’s description of a picture · page 2', { pictureDescription: true, page: 2 }],
  ])('is told: %s', (words, place) => {
    expect(ui.placeOf({ text: '', start: 0, ...place })).toBe(words)
  })

  it('is the heading above what is quoted, where that is one', () => {
    expect(ui.placeOf(chunk)).toBe('Birds')
    expect(ui.placeOf(chunk, [quoteAt('Owls hoot.')])).toBe('Owls')
    expect(ui.placeOf(chunk, [quoteAt('Owls hoot.'), quoteAt('Larks sing.')])).toBe('')
  })

  it('names the pages that are quoted, in order', () => {
    const quotes = [quoteAt('Owls hoot.', 9), quoteAt('Owls hoot.', 4)]
    expect(ui.placeOf({ ...chunk, page: 1, pageEnd: 12 }, quotes)).toBe('Owls · pages 4, 9')
  })

  it('is no heading within code', () => {
    const text = '```\n# not one\n```\nOwls hoot.'
    const quotes = [{ text: 'Owls hoot.', start: text.indexOf('Owls') }]
    expect(ui.placeOf({ text, start: 0, heading: 'Birds' }, quotes)).toBe('Birds')
  })

  it('leaves out what parts pages in its text', () => {
    const drawn = ui.render(ui.ChunkText, { text: 'One.\f Two.', isExcerpt: true })
    expect(drawn).toBe('<p class="chunk-text excerpt" dir="auto">One.\n\nTwo.</p>')
  })
})

describe('Notes', () => {
  it('have a place that is read out when a failure comes', () => {
    const draw = (message: string) => ui.render(ui.ErrorNote, { message })
    expect(draw('')).toBe('<div role="alert" class="alert-place"></div>')
    expect(draw('No <b>.')).toContain('<p>No &lt;b>.</p>')
  })

  it('show names between backticks as code', () => {
    expect(ui.render(ui.Prose, { text: 'Set `TOP_K` or `UI`.' })).toBe(
      'Set <code>TOP_K</code> or <code>UI</code>.',
    )
  })
})

it('A filter is JSON or nothing, and is refused with an example', () => {
  expect(ui.parseFilter(' ')).toBeUndefined()
  expect(ui.parseFilter('{"field": "a", "eq": 1}')).toEqual({ field: 'a', eq: 1 })
  expect(() => ui.parseFilter('year = 2026')).toThrow(/not valid JSON\. Example: /)
})

describe('A setting', () => {
  const draw = (setting: object, draft: object = {}) =>
    ui.render(ui.SettingField, {
      setting: {
        name: 'TOP_K',
        label: 'Passages',
        meaning: 'How many `passages` are read.',
        source: 'default',
        value: '5',
        ...setting,
      },
      draft: { value: draft },
    })

  it('has its name, its meaning and its value', () => {
    const drawn = draw({})
    expect(drawn).toMatch(/<label class="label" for="value-TOP_K">Passages <code[^>]*>TOP_K</)
    expect(drawn).toContain('How many <code>passages</code> are read.')
    expect(drawn).not.toMatch(/>Clear<|>Undo</)
  })

  it('can be cleared where the file has it, and undone where it was changed', () => {
    expect(draw({ source: 'file' })).toContain('Clear')
    expect(draw({ source: 'file' }, { TOP_K: null })).not.toContain('Clear')
    expect(draw({}, { TOP_K: '9' })).toContain('Undo')
    expect(draw({ source: 'environment' })).toContain('Set in the environment.')
  })

  it('is saved together with what else has changed', () => {
    const bar = (draft: object) =>
      ui.render(ui.SaveBar, { draft: { value: draft }, failure: '', note: '' })
    expect(bar({})).toMatch(/<button[^>]* disabled/)
    expect(bar({ TOP_K: '9', OCR: null })).toContain('Changed: TOP_K, OCR')
    expect(bar({ TOP_K: '9' })).not.toMatch(/<button[^>]* disabled/)
  })
})
