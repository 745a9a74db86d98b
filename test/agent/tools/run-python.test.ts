import { type RunRequest, SandboxLimits, type SessionRun } from '@agent-server/sandboxes'
import { describe, expect, it } from 'vitest'
import { ToolInputError } from '../../../src/agent/tools/define-tool.ts'
import { runPython } from '../../../src/agent/tools/run-python.ts'
import { createContext } from './context-for-test.ts'

const RUN: SessionRun = {
  outcome: 'finished',
  exitCode: 0,
  stdout: '',
  stderr: '',
  outputCut: false,
  files: [],
  filesLeftOut: 0,
  milliseconds: 12,
  fresh: false,
}
const { signal } = new AbortController()

function create(result: Partial<SessionRun> = {}, kind: 'embedded' | 'docker' = 'embedded') {
  const asked: { sessionId: string; request: RunRequest }[] = []
  const tool = runPython({
    sandbox: {
      limits: SandboxLimits.parse({}),
      unavailable: () => undefined,
      record: async () => ({ kind, state: 'on' }),
      async run(sessionId, request) {
        asked.push({ sessionId, request })
        return { ...RUN, ...result }
      },
    },
    readFiles: async (names) => names.map((name) => ({ name, bytes: Buffer.from(name) })),
  })
  return { tool, asked }
}

describe('run_python', () => {
  it('runs code in the sandbox of the conversation, with the files that it names', async () => {
    const { tool, asked } = create({ stdout: '42\n' })
    const context = createContext({ sessionId: 'c1' })
    const input = { code: '6 * 7', stdin: 'x', files: ['a.csv'] }
    expect(await tool.run(input, context, signal)).toBe(
      'Exit code 0 after 12 ms.\nFiles put in: a.csv\nOutput:\n42\n',
    )
    const files = [{ name: 'a.csv', bytes: Buffer.from('a.csv') }]
    expect(asked).toEqual([{ sessionId: 'c1', request: { code: '6 * 7', stdin: 'x', files } }])
  })

  it('shows errors, says what was cut or left out, and that the sandbox is new', async () => {
    const { tool } = create({
      exitCode: 1,
      stderr: 'ZeroDivisionError\n',
      fresh: true,
      outputCut: true,
      filesLeftOut: 3,
    })
    expect(await tool.run({ code: '1/0' }, createContext(), signal)).toBe(
      [
        'Exit code 1 after 12 ms. The sandbox was new: nothing of an earlier call was there.',
        'Errors:\nZeroDivisionError\n',
        'There was more output, which is dropped: print less.',
        '3 more files were too many or too large, or have odd names.',
      ].join('\n'),
    )
  })

  it.each([
    ['embedded', /no module numpy,.*Python’s own library, without threads.*no pandas/],
    ['docker', /no module numpy,.*library is there/],
  ] as const)('tells what a sandbox of the kind %s lacks', async (kind, words) => {
    const stderr = "ModuleNotFoundError: No module named 'numpy'\n"
    const { tool } = create({ exitCode: 1, stderr }, kind)
    expect(await tool.run({ code: 'import numpy' }, createContext(), signal)).toMatch(words)
  })

  it('makes artifacts of the files that were written, and says how to show a picture', async () => {
    const context = createContext()
    const files = [
      { name: 'plot.png', bytes: Buffer.from('png') },
      { name: 'out/table.csv', bytes: Buffer.from('a,b') },
      { name: 'odd.xyzzy', bytes: Buffer.from('?') },
    ]
    const output = await create({ files }).tool.run({ code: '1' }, context, signal)
    const made = context.artifacts.all()
    expect(made.map(({ mediaType }) => mediaType)).toEqual([
      'image/png',
      'text/csv',
      'application/octet-stream',
    ])
    expect(output).toContain(`show it with ![plot.png](${made[0]?.url})`)
    expect(output).toContain(
      `out/table.csv (text/csv, 3 bytes, id ${made[1]?.id}): ${made[1]?.url}`,
    )
  })

  it.each([
    ['timed-out' as const, /^Ended after 30 s.*files are gone/],
    ['crashed' as const, /^The interpreter ended.*files are gone/],
  ])('says what is lost where the run has %s', async (outcome, expected) => {
    const { tool } = create({ outcome, exitCode: undefined })
    expect(await tool.run({ code: '1' }, createContext(), signal)).toMatch(expected)
  })

  it.each([
    ['no code', {}],
    ['empty code', { code: ' ' }],
    ['too much code', { code: 'x'.repeat(100_001) }],
    ['too much input', { code: '1', stdin: 'x'.repeat(1_000_001) }],
    ['too many files', { code: '1', files: Array(9).fill('a') }],
  ])('refuses %s', (_case, input) => {
    expect(() => create().tool.run(input, createContext(), signal)).toThrow(ToolInputError)
  })

  it('has a longer deadline than the code', () => {
    expect(create().tool.deadlineMs).toBeGreaterThan(30_000)
  })
})
