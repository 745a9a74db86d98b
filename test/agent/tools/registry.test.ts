import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '@agent-server/lib/errors.ts'
import { JobExhausted } from '@agent-server/lib/processes/job.ts'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool, type Tool } from '../../../src/agent/tools/define-tool.ts'
import { parseCall, ToolRegistry } from '../../../src/agent/tools/registry.ts'
import { createContext } from './context-for-test.ts'

interface Line {
  level: 'info' | 'warn' | 'error'
  fields: object
  message: string
}

function createRegistry(
  tools: readonly Tool[],
  {
    isEnabled = () => true,
    deadlineMs,
  }: { isEnabled?: (name: string) => boolean; deadlineMs?: number } = {},
) {
  const lines: Line[] = []
  const log = {
    info: (fields: object, message: string) => void lines.push({ level: 'info', fields, message }),
    warn: (fields: object, message: string) => void lines.push({ level: 'warn', fields, message }),
    error: (fields: object, message: string) =>
      void lines.push({ level: 'error', fields, message }),
  }
  const registry = new ToolRegistry({
    sources: [() => tools],
    isEnabled,
    log,
    ...(deadlineMs !== undefined && { deadlineMs }),
  })
  const call = (name: string, text = '{}', signal = new AbortController().signal) =>
    registry.open(createContext()).call(parseCall({ callId: 'c', name, arguments: text }), signal)
  return { registry, lines, call }
}

function toolThat(run: Tool['run'], name = 'tool'): Tool {
  return { name, title: name, description: '', source: 'builtin', inputSchema: {}, run }
}

const echo = toolThat(async (input) => JSON.stringify(input), 'echo')
const strict = defineTool({
  name: 'strict',
  title: '',
  description: '',
  input: z.object({ query: z.string().min(1), topK: z.int().default(3) }),
  run: async ({ query, topK }) => `${query} ${topK}`,
})

describe('a tool call', () => {
  it.each([
    ['an object', '{"a":1}', '{"a":1}'],
    ['nothing, as some models write no arguments', '', '{}'],
    ['blanks', ' \n', '{}'],
    ['a list', '[1]', '[1]'],
    ['null', 'null', 'null'],
  ])('gives the tool %s', async (_case, text, output) => {
    expect(await createRegistry([echo]).call('echo', text)).toEqual({ output, isError: false })
  })

  it('gives the tool what its schema makes of the input', async () => {
    expect(await createRegistry([strict]).call('strict', '{"query":"a","more":1}')).toEqual({
      output: 'a 3',
      isError: false,
    })
  })

  it('knows the context of its run', async () => {
    const known = createContext()
    const tool = toolThat(async (_input, context) =>
      String(Object.entries(known).every(([name, part]) => Reflect.get(context, name) === part)),
    )
    const { registry } = createRegistry([tool])
    const call = { callId: 'c', name: 'tool', input: {} }
    const result = await registry.open(known).call(call, new AbortController().signal)
    expect(result.output).toBe('true')
  })

  it.each([
    ['of a tool that does not exist', 'nothing', '{}', /^There is no tool "nothing"$/],
    ['with broken JSON', 'echo', '{"a":', /^The arguments are not valid JSON: /],
    ['with text that is no JSON', 'echo', 'weather', /^The arguments are not valid JSON: /],
    ['without a field', 'strict', '{}', /^Invalid arguments: .*query/s],
    ['with an empty field', 'strict', '{"query":""}', /^Invalid arguments: .*query/s],
    ['with a list for an object', 'strict', '[]', /^Invalid arguments: .*object/s],
  ])('%s is a result that tells the model its mistake', async (_case, name, text, output) => {
    const { call, lines } = createRegistry([echo, strict])
    expect(await call(name, text)).toEqual({ output: expect.stringMatching(output), isError: true })
    expect(lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  it.each<[string, Tool['run']]>([
    ['rejects', () => Promise.reject(new Error('hunter2'))],
    [
      'throws',
      () => {
        throw new Error('hunter2')
      },
    ],
    ['rejects with something that is no error', () => Promise.reject('hunter2')],
  ])('whose tool %s is a result without its words, which are in the log', async (_case, run) => {
    const { call, lines } = createRegistry([toolThat(run)])
    expect(await call('tool')).toEqual({
      output: 'The tool failed; see the server log',
      isError: true,
    })
    const line = lines.find(({ level }) => level === 'error')
    expect(line?.fields).toMatchObject({ tool: 'tool', err: expect.anything() })
  })

  it('whose tool fails in words meant for callers tells them to the model', async () => {
    const failure = new AppError('index_not_ready', 'The search index is being rebuilt')
    const { call } = createRegistry([toolThat(() => Promise.reject(failure))])
    expect(await call('tool')).toEqual({
      output: 'The tool failed: The search index is being rebuilt',
      isError: true,
    })
  })

  it('whose tool refuses tells the model why, and leaves the cause in the log', async () => {
    const cause = new Error('FATAL ERROR: JavaScript heap out of memory')
    const failure = new JobExhausted('Too large', { cause })
    const { call, lines } = createRegistry([toolThat(() => Promise.reject(failure))])
    expect(await call('tool')).toEqual({ output: 'The tool failed: Too large', isError: true })
    expect(lines.find(({ level }) => level === 'warn')?.fields).toEqual({
      err: cause,
      tool: 'tool',
    })
  })
})

describe('the result of a tool', () => {
  it('is whole up to sixty thousand code units', async () => {
    const { output } = await createRegistry([toolThat(async () => 'x'.repeat(60_000))]).call('tool')
    expect(output).toBe('x'.repeat(60_000))
  })

  it('is cut after them, and says how much is missing', async () => {
    const { output } = await createRegistry([toolThat(async () => 'x'.repeat(60_005))]).call('tool')
    expect(output).toBe(`${'x'.repeat(60_000)}\n[cut: 5 more characters]`)
  })

  it('is well-formed, wherever it is cut', async () => {
    const tool = toolThat(async () => `x${'😀'.repeat(40_000)}\ud800`)
    expect((await createRegistry([tool]).call('tool')).output.isWellFormed()).toBe(true)
  })

  it.each(['a\ud800b', '\udc00'])('is well-formed where the tool’s is not: %j', async (text) => {
    const { output } = await createRegistry([toolThat(async () => text)]).call('tool')
    expect(output).toBe(text.toWellFormed())
  })

  it('is bounded also where it is a failure', async () => {
    const failure = new AppError('internal', 'x'.repeat(100_000))
    const { output } = await createRegistry([toolThat(() => Promise.reject(failure))]).call('tool')
    expect(output.length).toBeLessThan(61_000)
  })
})

describe('the deadline of a tool', () => {
  const late = { output: 'The tool did not answer in 10 ms', isError: true }

  it('ends the wait for a tool that does not listen to its signal', async () => {
    const deaf = toolThat(() => new Promise(() => undefined))
    expect(await createRegistry([deaf], { deadlineMs: 10 }).call('tool')).toEqual(late)
  })

  it('aborts the signal of the tool', async () => {
    const listening = toolThat((_input, _context, signal) => pause(60_000, 'never', { signal }))
    expect(await createRegistry([listening], { deadlineMs: 10 }).call('tool')).toEqual(late)
  })

  it('has no effect on a tool that finishes in time', async () => {
    expect(await createRegistry([echo], { deadlineMs: 1_000 }).call('echo')).toEqual({
      output: '{}',
      isError: false,
    })
  })
})

describe('an abort of the run', () => {
  const gone = new Error('the caller left')

  it.each<[string, Tool['run']]>([
    ['listens', (_input, _context, signal) => pause(60_000, 'never', { signal })],
    ['does not listen', () => new Promise(() => undefined)],
  ])('ends a call with its reason where the tool %s', async (_case, run) => {
    const abort = new AbortController()
    const result = createRegistry([toolThat(run)]).call('tool', '{}', abort.signal)
    abort.abort(gone)
    await expect(result).rejects.toBe(gone)
  })

  it('is seen by the tool', async () => {
    const abort = new AbortController()
    let seen: unknown
    const tool = toolThat((_input, _context, signal) => {
      signal.addEventListener('abort', () => {
        seen = signal.reason
      })
      return new Promise(() => undefined)
    })
    const result = createRegistry([tool]).call('tool', '{}', abort.signal)
    abort.abort(gone)
    await expect(result).rejects.toBe(gone)
    expect(seen).toBe(gone)
  })
})

describe('the audit log', () => {
  const audit = (tool: string, isError: boolean) => ({
    level: 'info',
    fields: { tool, isError, milliseconds: expect.any(Number) },
    message: 'tool call',
  })

  it('has one line per call, whatever the outcome', async () => {
    const { call, lines } = createRegistry([echo, toolThat(() => new Promise(() => undefined))])
    await call('echo')
    await call('echo', '{')
    await call('nothing')
    const abort = new AbortController()
    const broken = call('tool', '{}', abort.signal)
    abort.abort()
    await expect(broken).rejects.toThrow()
    expect(lines).toEqual([
      audit('echo', false),
      audit('echo', true),
      audit('nothing', true),
      audit('tool', true),
    ])
  })

  it('contains neither input nor output', async () => {
    const { call, lines } = createRegistry([echo])
    await call('echo', '{"password":"hunter2"}')
    expect(JSON.stringify(lines)).not.toContain('hunter2')
  })
})

describe('a tool that is switched off', () => {
  const { registry, call } = createRegistry([echo, strict], {
    isEnabled: (name) => name !== 'echo',
  })

  it('is not offered', () => {
    expect(
      registry
        .open(createContext())
        .offered()
        .map(({ name }) => name),
    ).toEqual(['strict'])
  })

  it('cannot be called', async () => {
    expect(await call('echo')).toEqual({ output: 'There is no tool "echo"', isError: true })
  })

  it('is listed as off, beside the others', () => {
    expect(registry.records(true).map(({ name, state }) => [name, state])).toEqual([
      ['echo', 'off'],
      ['strict', 'on'],
    ])
  })
})

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined }

describe('the sources of tools', () => {
  const named = (name: string, source: string): Tool => ({
    ...toolThat(async () => source, name),
    source,
  })
  const create = (...sources: (() => readonly Tool[])[]) =>
    new ToolRegistry({
      sources,
      isEnabled: () => true,
      log: SILENT,
    })
  const { signal } = new AbortController()

  it('are read once per run', async () => {
    let there = [named('mcp__a__x', 'mcp:a')]
    const registry = create(() => there)
    const run = registry.open(createContext())
    there = []
    expect(run.offered()).toHaveLength(1)
    const call = { callId: 'c', name: 'mcp__a__x', input: {} }
    expect((await run.call(call, signal)).output).toBe('mcp:a')
    expect(registry.open(createContext()).offered()).toEqual([])
    expect(registry.records(true)).toEqual([])
  })

  it('cannot take the name of a built-in tool, whichever comes first', async () => {
    const registry = create(
      () => [named('search', 'plugin:p')],
      () => [named('search', 'builtin')],
    )
    const run = registry.open(createContext())
    const call = { callId: 'c', name: 'search', input: {} }
    expect((await run.call(call, signal)).output).toBe('builtin')
    expect(registry.records(true)).toMatchObject([
      { source: 'builtin', state: 'on' },
      {
        source: 'plugin:p',
        state: 'unavailable',
        reason: 'The name is taken by a tool of builtin',
      },
    ])
  })

  it('keep their first tool of a name', () => {
    const registry = create(
      () => [named('x', 'mcp:a')],
      () => [named('x', 'mcp:b')],
    )
    expect(registry.open(createContext()).offered()).toMatchObject([{ source: 'mcp:a' }])
  })

  it('may hold a built-in tool that is switched off, whose name stays taken', () => {
    const registry = new ToolRegistry({
      sources: [() => [named('search', 'builtin'), named('search', 'mcp:a')]],
      isEnabled: () => false,
      log: SILENT,
    })
    expect(registry.open(createContext()).offered()).toEqual([])
    expect(registry.records(true)).toMatchObject([{ state: 'off' }, { state: 'unavailable' }])
  })
})

describe('a tool that cannot be called at this moment', () => {
  const away = { ...echo, unavailable: () => 'The sandbox is off' }
  const { registry, call } = createRegistry([away])

  it('is not offered, and a call of it is told so', async () => {
    expect(registry.open(createContext()).offered()).toEqual([])
    expect(await call('echo')).toEqual({ output: 'There is no tool "echo"', isError: true })
  })

  it('is listed with the reason', () => {
    expect(registry.records(true)).toMatchObject([
      { name: 'echo', state: 'unavailable', reason: 'The sandbox is off' },
    ])
  })
})

it('a tool with a deadline of its own has that', async () => {
  const deaf = { ...toolThat(() => new Promise(() => undefined)), deadlineMs: 15 }
  expect((await createRegistry([deaf]).call('tool')).output).toBe(
    'The tool did not answer in 15 ms',
  )
})
