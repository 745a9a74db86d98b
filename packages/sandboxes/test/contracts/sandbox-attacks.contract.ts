import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { url as inspectorUrl } from 'node:inspector'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { onlyLong } from '../../../../test/support/long.ts'
import { SandboxLimits } from '../../src/limits.ts'
import type { RunResult, Sandbox } from '../../src/sandbox.ts'
import { attacksOn, PREPARATION } from './sandbox.attacks.ts'
import type { SandboxCase } from './sandbox.contract.ts'
import { type Host, layOutTargets, processesWith } from './sandbox.targets.ts'

const LIMITS = SandboxLimits.parse({ seconds: 20, fileMegabytes: 16, outputKilobytes: 8 })
/** For what ends by being killed. */
const SHORT = { ...LIMITS, seconds: 1 }

const { signal } = new AbortController()

/** What code has tried against its sandbox; none of it may ever succeed. */
export function describeSandboxAttacks(name: string, { create }: SandboxCase): void {
  describe(`${name} under attack`, () => {
    let host: Host
    let sandbox: Sandbox
    let short: Sandbox

    beforeAll(async () => {
      host = await layOutTargets()
      sandbox = create(LIMITS)
      short = create(SHORT)
    })
    afterAll(async () => {
      await Promise.all([sandbox.close(), short.close()])
      await host.close()
    })

    /** In a session of its own, which is killed afterwards. */
    async function runAlone(code: string, within = sandbox): Promise<RunResult> {
      const session = await within.open(signal)
      try {
        return await session.run({ code }, signal)
      } finally {
        await session.kill()
      }
    }

    it('lets none of the known attacks succeed', async () => {
      let session = await sandbox.open(signal)
      for (const attack of attacksOn(host)) {
        if (!session.alive) session = await sandbox.open(signal)
        const code = `${PREPARATION}${attack.code}`
        const { stdout, stderr, outcome } = await session.run({ code }, signal)
        expect(stdout, attack.name).not.toContain('ESCAPED')
        if (outcome === 'finished') expect(stdout, `${attack.name}: ${stderr}`).toContain('TRIED')
      }
      await session.kill()
      expect(host.connections).toBe(0)
      expect(await readFile(host.path, 'utf8')).toBe(host.secret)
      expect(inspectorUrl()).toBeUndefined()
    }, 120_000)

    it('ends an endless loop that catches everything', onlyLong, async () => {
      expect(await runAlone(LOOP_THAT_CATCHES, short)).toMatchObject({ outcome: 'timed-out' })
    })

    it.each([
      ['a loop in native code', 'import re\nre.match(r"(a+)+$", "a" * 100 + "b")'],
      ['endless sleep', 'import time\nwhile True: time.sleep(1000)'],
    ])('ends %s', onlyLong, async (_case, code) => {
      expect(await runAlone(code, short)).toMatchObject({ outcome: 'timed-out' })
    })

    it('contains a fork bomb', onlyLong, async () => {
      const mark = randomUUID()
      const result = await runAlone(FORK_BOMB.replace('MARK', mark), short)
      expect(result.exitCode).not.toBe(0)
      expect(await processesWith(mark)).toEqual([])
    })

    it('leaves nothing behind of processes that detach themselves', async () => {
      const mark = `mark-${randomUUID()}`
      await runAlone(DAEMON.replace('MARK', mark))
      expect(await processesWith(mark)).toEqual([])
    })

    it(
      'gives back no file of the host through links, and does not wait for a pipe',
      onlyLong,
      async () => {
        const { files } = await runAlone(LINKS.replaceAll('PATH', host.path))
        const contents = files.map(({ bytes }) => Buffer.from(bytes).toString())
        expect(contents.join()).not.toContain(host.secret)
        expect(files.map((file) => file.name)).toEqual(['honest.txt'])
      },
    )

    it('is not fooled by forged answers', onlyLong, async () => {
      const session = await sandbox.open(signal)
      const forged = await session.run({ code: FORGERY }, signal)
      expect(JSON.stringify(forged)).not.toContain(host.secret)
      const next = await session.run({ code: 'print("honest")' }, signal)
      if (next.outcome === 'finished') expect(next.stdout).toBe('honest\n')
      await session.kill()
      expect(await runAlone('print("as before")')).toMatchObject({ stdout: 'as before\n' })
    })
  })
}

const LOOP_THAT_CATCHES = `
import signal
for number in range(1, 32):
    try: signal.signal(number, signal.SIG_IGN)
    except Exception: pass
while True:
    try:
        while True: pass
    except BaseException: pass`

const FORK_BOMB = `
import os, sys
if hasattr(os, "fork") and os.fork() == 0:
    os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)  # MARK"])
while True:
    try: os.fork()
    except OSError: pass`

const DAEMON = `
import os, subprocess, sys
try:
    sleep = "import time; time.sleep(600)  # MARK"
    subprocess.Popen([sys.executable, "-c", sleep], start_new_session=True, stdin=subprocess.DEVNULL)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0: os.execv(sys.executable, [sys.executable, "-c", sleep])
        os._exit(0)
except (OSError, AttributeError): pass`

const LINKS = `
import os
for name, make in {
    "link.txt": lambda: os.symlink("PATH", "link.txt"),
    "hard.txt": lambda: os.link("PATH", "hard.txt"),
    "directory": lambda: os.symlink(os.path.dirname("PATH"), "directory"),
    "climbing.txt": lambda: os.symlink("../../../../../../.." + "PATH", "climbing.txt"),
    "loop": lambda: os.symlink(".", "loop"),
    "pipe": lambda: os.mkfifo("pipe"),
    "self": lambda: os.symlink("/proc/self/environ", "self"),
}.items():
    try: make()
    except (OSError, AttributeError): pass
open("honest.txt", "w").write("honest")`

/** Answers as the interpreter's loop would, through every descriptor there is: far too much, then nonsense. */
const FORGERY = `
import os, json
header = json.dumps({"exitCode": 0, "outputCut": False, "names": ["../../forged", "forged"],
    "filesLeftOut": 0, "sizes": [2, 0, 1, 10**12]}).encode()
for fd in range(3, 256):
    for data in [len(header).to_bytes(4, "big") + header + b"x", b"\\xff" * 1000]:
        try:
            os.set_blocking(fd, False)
            os.write(fd, data)
        except Exception: pass`
