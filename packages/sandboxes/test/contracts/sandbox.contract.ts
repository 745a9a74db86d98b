import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { onlyLong } from '../../../../test/support/long.ts'
import { SandboxLimits } from '../../src/limits.ts'
import type { RunRequest, Sandbox, SandboxFile, SandboxSession } from '../../src/sandbox.ts'

export interface SandboxCase {
  create(limits: SandboxLimits): Sandbox
}

const LIMITS = SandboxLimits.parse({ seconds: 20, fileMegabytes: 16, outputKilobytes: 8 })
const { signal } = new AbortController()
const bytesOf = (text: string) => new TextEncoder().encode(text)
const textOf = (files: readonly SandboxFile[]) =>
  Object.fromEntries(files.map(({ name, bytes }) => [name, Buffer.from(bytes).toString()]))

/** What everything that runs code relies on, and what no code may ever do, whichever way it is kept in. */
export function describeSandbox(name: string, { create }: SandboxCase): void {
  describe(`${name} as a sandbox`, () => {
    let sandbox: Sandbox
    let session: SandboxSession
    const run = (code: string, more: Partial<RunRequest> = {}) =>
      session.run({ code, ...more }, signal)

    beforeAll(async () => {
      sandbox = create(LIMITS)
      await sandbox.check(signal)
      session = await sandbox.open(signal)
    })
    afterAll(() => sandbox.close())

    it('runs code, and shows its output and the value of its last expression', async () => {
      const result = await run('print("out")\nimport sys\nprint("err", file=sys.stderr)\n6 * 7')
      expect(result).toMatchObject({
        outcome: 'finished',
        exitCode: 0,
        stdout: 'out\n42\n',
        stderr: 'err\n',
        files: [],
        filesLeftOut: 0,
        outputCut: false,
        milliseconds: expect.any(Number),
      })
    })

    it.each([
      ['an exception', '1 / 0', 1, /^Traceback.*line 1.*\n +1 \/ 0\n.*ZeroDivisionError/s],
      ['a syntax error', 'def f(:', 1, /File "<code>", line 1.*SyntaxError/s],
      ['an exit code', 'import sys\nsys.exit(3)', 3, /^$/],
      ['a last word', 'raise SystemExit("bye")', 1, /^bye\n$/],
      ['endless recursion', 'def f(n): return f(n + 1)\nf(0)', 1, /RecursionError/],
    ])('tells of %s', async (_case, code, exitCode, stderr) => {
      const result = await run(code)
      expect(result).toMatchObject({ outcome: 'finished', exitCode })
      expect(result.stderr).toMatch(stderr)
    })

    it('keeps variables and files from run to run', async () => {
      await run('kept = 1\nwith open("kept.txt", "w") as file: file.write("here")')
      const result = await run(
        'import os\nkept += 1\nprint(kept, open("kept.txt").read(), os.path.basename(os.getcwd()))',
      )
      expect(result.stdout).toBe('2 here work\n')
    })

    it('gives standard input to each run anew', async () => {
      expect((await run('print(input(), input())', { stdin: 'a\nb\n' })).stdout).toBe('a b\n')
      expect((await run('import sys\nprint(repr(sys.stdin.read()))')).stdout).toBe("''\n")
    })

    it('puts files in, and gives back those that the run wrote or changed', async () => {
      const files = [
        { name: 'in.csv', bytes: bytesOf('a,b\n') },
        { name: 'below/same.bin', bytes: Uint8Array.of(0, 255, 10) },
      ]
      const result = await run(
        `import os
open("in.csv", "a").write("1,2\\n")
os.makedirs("out/deep", exist_ok=True)
open("out/deep/new.txt", "w").write(str(list(open("below/same.bin", "rb").read())))`,
        { files },
      )
      expect(result.stderr).toBe('')
      expect(textOf(result.files)).toEqual({
        'in.csv': 'a,b\n1,2\n',
        'out/deep/new.txt': '[0, 255, 10]',
      })
      expect((await run('1')).files).toEqual([])
    })

    it('cuts output at its limit, and says so', async () => {
      const flood = 'for _ in range(300): print("x" * 10_000)\nprint("done", file=sys.stderr)'
      const result = await run(`import sys\n${flood}`)
      expect(result).toMatchObject({ outcome: 'finished', exitCode: 0, outputCut: true })
      expect(result.stdout.length + result.stderr.length).toBeLessThanOrEqual(8 * 1_024)
      expect(await run('print("quiet")')).toMatchObject({ outputCut: false, stdout: 'quiet\n' })
    })

    it('survives code that closes or replaces its streams', onlyLong, async () => {
      await run('import sys, os\nsys.stdout.close()\nsys.stderr = None')
      await run('os.close(1)\nos.close(0)')
      expect(await run('print("still there")')).toMatchObject({ stdout: 'still there\n' })
    })

    it('gives back no more files than a run may, and none with a name that leads elsewhere', async () => {
      const many = await run('for i in range(40): open(f"many{i}", "w").write("x")')
      expect(many.files).toHaveLength(32)
      expect(many.filesLeftOut).toBe(8)
      await run('for i in range(40): os.remove(f"many{i}")')
      const odd =
        await run(`for name in [".hidden", "new\\nline", "back\\\\slash", "x" * 220, "fine"]:
    open(name, "w").write("x")`)
      expect(odd.files.map((file) => file.name)).toEqual(['fine'])
      expect(odd.filesLeftOut).toBe(4)
    })

    it('holds files within their limit, and has the room back once they are deleted', async () => {
      const full = await run('f = open("big", "wb")\nfor _ in range(64): f.write(b"x" * 2**20)')
      expect(full).toMatchObject({ outcome: 'finished', exitCode: 1 })
      expect(full.stderr).toMatch(/No space left|File too large/)
      expect(await run('f.close()\nos.remove("big")')).toMatchObject({ exitCode: 0 })
      const fits = await run('open("big", "wb").write(b"x" * 10 * 2**20)\nos.remove("big")')
      expect(fits.stderr).toBe('')
    })

    it('sleeps for the requested time', async () => {
      const code = `import time
wall = time.monotonic()
time.sleep(0.2)
print(time.monotonic() - wall >= 0.19)`
      expect((await run(code)).stdout).toBe('True\n')
    })

    it('runs simultaneous requests one after another', onlyLong, async () => {
      const runs = await Promise.all([1, 2, 3].map((n) => run(`order = ${n}\nprint(order)`)))
      expect(runs.map(({ stdout }) => stdout)).toEqual(['1\n', '2\n', '3\n'])
    })

    it('shares nothing between two sessions', async () => {
      await run(`import tempfile
mine = 1
for place in [".", tempfile.gettempdir()]: open(os.path.join(place, "mine.txt"), "w").write("mine")`)
      const other = await sandbox.open(signal)
      onTestFinished(() => other.kill())
      const look = `import os, tempfile
print("mine" in globals(), os.listdir("."), os.listdir(tempfile.gettempdir()))`
      expect(await other.run({ code: look }, signal)).toMatchObject({ stdout: 'False [] []\n' })
      expect(session.alive).toBe(true)
    })

    it('ends a session whose code ends the interpreter', async () => {
      const doomed = await sandbox.open(signal)
      const result = await doomed.run({ code: 'import os\nos._exit(7)' }, signal)
      expect(result).toMatchObject({ outcome: 'crashed', files: [] })
      expect(doomed.alive).toBe(false)
      expect(await doomed.run({ code: '1' }, signal)).toMatchObject({ outcome: 'crashed' })
    })

    it('kills a run that is aborted, and throws the reason', async () => {
      const doomed = await sandbox.open(signal)
      const controller = new AbortController()
      const running = doomed.run({ code: 'while True: pass' }, controller.signal)
      const reason = new Error('left')
      await setImmediate()
      controller.abort(reason)
      await expect(running).rejects.toBe(reason)
      expect(doomed.alive).toBe(false)
    })

    it('may be killed at any time, and more than once', onlyLong, async () => {
      const doomed = await sandbox.open(signal)
      const running = doomed.run({ code: 'while True: pass' }, signal)
      await doomed.kill()
      await doomed.kill()
      expect(await running).toMatchObject({ outcome: 'crashed' })
    })
  })
}
