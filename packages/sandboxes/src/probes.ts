import type { SandboxLimits } from './limits.ts'
import type { SandboxProbeName } from './report.ts'
import { BYTES_PER_KILOBYTE, type RunRequest, type RunResult } from './sandbox.ts'

/** What the probes may use of the server's machine. */
export interface ProbeContext {
  limits: SandboxLimits
  /** The port of a server on the loopback interface that counts connections. */
  port: number
  connections: () => number
  /** A file that the server can read. */
  hostFile: string
}

export interface Probe {
  name: SandboxProbeName
  request: (context: ProbeContext) => RunRequest
  /** Describes what is wrong with the result; undefined if it is as it must be. */
  findFault: (result: RunResult, context: ProbeContext) => string | undefined
  remedy: string
}

const CONTENT = 'one,two\n1,2\n'
const GROUPS = 'Allow the server to create control groups, or use another kind of sandbox'
/** Tolerance of the measured processor use, which is not more precise than this factor. */
const CPU_SLACK = 1.5
const ISOLATION = 'Do not use this sandbox for untrusted code; use another kind'

/** Names of environment variables that may hold what only the server should know. */
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|DATABASE|CHAT_|SERVER_/
/** Set in Python's official images: the fingerprint of the key that signed the release. */
const HARMLESS_NAMES = ['GPG_KEY']

/** For code that prints something only if it is not prevented from what it tries. */
const unlessSilent = (fault: string): Probe['findFault'] => {
  return ({ stdout }) => (stdout === '' ? undefined : fault)
}

export const PROBES: readonly Probe[] = [
  {
    name: 'computation',
    request: () => ({ code: 'print(6 * 7)' }),
    findFault: ({ stdout, stderr }) =>
      stdout === '42\n' ? undefined : withLastLine('print(6 * 7)', stderr),
    remedy: 'Python does not run: see the server log',
  },
  {
    name: 'files',
    request: () => ({
      code: 'text = open("in.csv").read()\nopen("out.csv", "w").write(text)',
      files: [{ name: 'in.csv', bytes: Buffer.from(CONTENT) }],
    }),
    findFault: ({ files, stderr }) => {
      const out = files.find(({ name }) => name === 'out.csv')
      const same = out !== undefined && Buffer.from(out.bytes).toString() === CONTENT
      return same ? undefined : withLastLine('The file was not returned', stderr)
    },
    remedy: 'Files do not reach the sandbox or are not returned: see the server log',
  },
  {
    name: 'environment',
    request: () => ({ code: 'import os\nprint(" ".join(os.environ))' }),
    findFault: ({ stdout }) => {
      const names = stdout.trim().split(' ')
      const secrets = names.filter(
        (name) => SECRET_NAME.test(name) && !HARMLESS_NAMES.includes(name),
      )
      return secrets.length === 0 ? undefined : `Code sees the variables ${secrets.join(', ')}`
    },
    remedy: `${ISOLATION}, or remove the variables from the image`,
  },
  {
    name: 'host-files',
    request: ({ hostFile }) => ({ code: `print(len(open(${JSON.stringify(hostFile)}).read()))` }),
    findFault: unlessSilent('Code can read files of the server'),
    remedy: `${ISOLATION}, or install the server outside of /usr`,
  },
  {
    name: 'network',
    request: ({ port }) => ({ code: CONNECT.replace('PORT', String(port)) }),
    findFault: ({ stdout }, { connections }) =>
      stdout === '' && connections() === 0 ? undefined : 'Code can open connections',
    remedy: ISOLATION,
  },
  {
    name: 'memory',
    request: ({ limits }) => ({
      code: HOG.replace('MEGABYTES', String(limits.memoryMegabytes * 3)),
    }),
    findFault: unlessSilent('Code can use more memory than its limit allows'),
    remedy: GROUPS,
  },
  {
    name: 'total-memory',
    request: ({ limits }) => ({ code: hogs(Math.ceil(limits.memoryMegabytes * 0.75)) }),
    findFault: unlessSilent('Processes can together use more memory than the limit allows'),
    remedy: GROUPS,
  },
  {
    name: 'processes',
    request: ({ limits }) => ({ code: forks(limits.processes) }),
    findFault: unlessSilent('Code can start more processes than the limit allows'),
    remedy: GROUPS,
  },
  {
    name: 'cpus',
    request: ({ limits }) => ({ code: burns(Math.ceil(limits.cpus) + 1) }),
    findFault: ({ stdout }, { limits }) =>
      Number(stdout) > limits.cpus * CPU_SLACK
        ? `Code can use ${stdout.trim()} processors, which is more than the limit allows`
        : undefined,
    remedy: GROUPS,
  },
  {
    name: 'file-space',
    request: ({ limits }) => ({ code: files(Math.ceil(limits.fileMegabytes * 0.75)) }),
    findFault: unlessSilent('Files can together use more space than the limit allows'),
    remedy: 'Use another kind of sandbox',
  },
  {
    name: 'output',
    request: ({ limits }) => ({ code: `print("x" * ${limits.outputKilobytes * 2_048})` }),
    findFault: ({ stdout, outputCut }, { limits }) =>
      outputCut && stdout.length <= limits.outputKilobytes * BYTES_PER_KILOBYTE
        ? undefined
        : 'More output is kept than the limit allows',
    remedy: 'See the server log',
  },
  {
    name: 'time-out',
    request: () => ({ code: 'while True: pass', seconds: 1 }),
    findFault: ({ outcome }) => (outcome === 'timed-out' ? undefined : `The run has ${outcome}`),
    remedy: ISOLATION,
  },
]

const CONNECT = `import socket
for address in [("127.0.0.1", PORT), ("1.1.1.1", 53)]:
    try:
        with socket.create_connection(address, timeout=2): print("connected", address)
    except OSError: pass`

const HOG = `held = []
for _ in range(MEGABYTES): held.append(b"x" * 2**20)
print("taken")`

/** Four processes, each within the memory limit. */
const hogs = (megabytes: number) => `import os, time
def hog():
    try:
        held = b"x" * (${megabytes} * 2**20)
        time.sleep(1)
        os._exit(0)
    except BaseException: os._exit(1)
if hasattr(os, "fork"):
    pids = []
    for _ in range(4):
        pids.append(os.fork())
        if pids[-1] == 0: hog()
    if not any([os.waitpid(pid, 0)[1] for pid in pids]): print("taken")`

const forks = (most: number) => `import os, time
pids = []
try:
    while hasattr(os, "fork") and len(pids) <= ${most}:
        pids.append(os.fork())
        if pids[-1] == 0: time.sleep(10); os._exit(0)
    if pids: print("started")
except OSError: pass
for pid in pids: os.kill(pid, 9); os.waitpid(pid, 0)`

/** Measures how many processors that many processes use together. */
const burns = (processes: number) => `import os, time
def burn():
    end = time.monotonic() + 1
    while time.monotonic() < end: pass
def children(): return os.times().children_user + os.times().children_system
began, before, pids = time.monotonic(), children(), []
if hasattr(os, "fork"):
    for _ in range(${processes}):
        pids.append(os.fork())
        if pids[-1] == 0: burn(); os._exit(0)
    for pid in pids: os.waitpid(pid, 0)
    # Without that of children of earlier probes.
    spent = children() - before
else:
    # One interpreter, whose clock of its own time is not to be trusted.
    burn()
    spent = time.monotonic() - began
print(round(spent / (time.monotonic() - began), 1))`

const files = (megabytes: number) => `import os
try:
    for name in ("fill-1", "fill-2"):
        with open(name, "wb") as file:
            for _ in range(${megabytes}): file.write(b"x" * 2**20)
    print("written")
except OSError: pass
for name in ("fill-1", "fill-2"):
    if os.path.exists(name): os.remove(name)`

/** The fault, with the last line of the traceback. */
function withLastLine(what: string, stderr: string): string {
  const last = stderr.trim().split('\n').at(-1) ?? ''
  return last === '' ? what : `${what}: ${last.slice(0, 300)}`
}
