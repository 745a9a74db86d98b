/** What there is on the host for an attack to reach. */
export interface Targets {
  /** A file, readable and writable for everyone, with `secret` in it. */
  path: string
  secret: string
  /** A server on the loopback. */
  port: number
  /** A server behind a socket file that everyone may connect to. */
  socket: string
}

export interface Attack {
  name: string
  /** Python with `tries(name, work)`, which prints ESCAPED where `work` answers something. */
  code: string
}

const literal = (text: string) => JSON.stringify(text)

/** Runs first: an attack has escaped where a try answers something true, and is over where it throws. */
export const PREPARATION = `
import os, sys, socket, glob, subprocess, time
def tries(name, work):
    try:
        found = work()
        if found: print("ESCAPED", name, repr(found)[:200])
    except BaseException as error:
        pass
    print("TRIED", name)
`

/** Attacks that leave the session as it was. */
export function attacksOn({ path, secret, port, socket }: Targets): Attack[] {
  const address = `("127.0.0.1", ${port})`
  return [
    {
      name: 'files of the host',
      code: `
tries("read", lambda: ${literal(secret)} in open(${literal(path)}).read())
tries("write", lambda: open(${literal(path)}, "w").write("overwritten"))
tries("shadow", lambda: "root:" in open("/etc/shadow").read() and "$" in open("/etc/shadow").read())
tries("climb", lambda: ${literal(secret)} in open("../../../../../../.." + ${literal(path)}).read())
tries("list", lambda: os.listdir(os.path.dirname(${literal(path)})))
tries("root of the init process", lambda: open("/proc/1/root" + ${literal(path)}).read())`,
    },
    {
      name: 'its environment',
      code: `
tries("own", lambda: [v for v in os.environ.values() if ${literal(secret)} in v])
def others():
    for file in glob.glob("/proc/*/environ") + ["/proc/self/environ", "/proc/1/environ"]:
        try:
            if ${literal(secret)} in open(file).read(): return file
        except OSError: pass
tries("others", others)`,
    },
    {
      name: 'its processes',
      code: `
def strangers():
    for file in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            words = open(file).read()
            if "vitest" in words or "dockerd" in words or "src/main" in words: return words
        except OSError: pass
tries("cmdline", strangers)
tries("kernel", lambda: open("/proc/sysrq-trigger", "w").write("h"))
tries("memory", lambda: open("/proc/kcore", "rb").read(16).strip(b"\\0"))
tries("core pattern", lambda: open("/proc/sys/kernel/core_pattern", "w").write("|/bin/sh"))`,
    },
    {
      name: 'its network',
      code: `
def connects(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(1)
        connection.connect(address)
        connection.send(b"here")
        return True
tries("loopback", lambda: connects(socket.AF_INET, ${address}))
tries("outside", lambda: connects(socket.AF_INET, ("1.1.1.1", 53)))
tries("names", lambda: socket.gethostbyname("example.org"))
tries("socket file", lambda: connects(socket.AF_UNIX, ${literal(socket)}))
tries("engine", lambda: connects(socket.AF_UNIX, "/var/run/docker.sock"))
tries("abstract", lambda: connects(socket.AF_UNIX, "\\0" + ${literal(socket)}))
tries("hypervisor", lambda: connects(40, (2, ${port})))
tries("inspector", lambda: connects(socket.AF_INET, ("127.0.0.1", 9229)))
import urllib.request
tries("fetch", lambda: urllib.request.urlopen("http://127.0.0.1:${port}", timeout=1).read())`,
    },
    {
      name: 'signals to whoever started it',
      code: `
import signal
tries("parent", lambda: os.getppid() > 1 and os.kill(os.getppid(), signal.SIGUSR1))
tries("group", lambda: os.getpgid(os.getppid()) and os.killpg(os.getpgid(os.getppid()), signal.SIGUSR1))
for number in range(1, 4): tries("low", lambda: number != os.getpid() and os.kill(number, signal.SIGUSR1))`,
    },
    {
      name: 'rights of the kernel',
      code: `
tries("root", lambda: os.setuid(0) is None and os.getuid() == 0 and open("/proc/1/environ").read())
tries("mount", lambda: subprocess.run(["mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode == 0)
tries("namespace", lambda: os.unshare(0x10000000) is None)
tries("chroot", lambda: os.chroot("/") is None)
tries("device", lambda: os.mknod("/dev/memory", 0o600 | 0o020000, os.makedev(1, 1)) is None)
tries("shell", lambda: ${literal(secret)} in subprocess.run(["cat", ${literal(path)}], capture_output=True, text=True).stdout)
import platform
tries("keys", lambda: platform.machine() == "x86_64" and __import__("ctypes").CDLL(None).syscall(250, 0, -3, 0) > 0)
tries("system", lambda: os.system("cat " + ${literal(path)}) == 0)`,
    },
    {
      name: 'places that are not its own',
      code: `
def fills(directory):
    file = os.path.join(directory, "filled")
    try:
        with open(file, "wb") as target:
            for _ in range(200): target.write(b"x" * 2**20)
        return True
    finally:
        if os.path.exists(file): os.remove(file)
for place in ["/", "/dev", "/dev/shm", "/etc", "/run", "/usr", "/usr/local", "/var", "/var/tmp", "/home", "/tmp", "."]:
    tries(place, lambda: fills(place))
def hole():
    try:
        with open("hole", "wb") as target: target.truncate(2**31)
        return os.path.getsize("hole") > 2**27
    finally: os.remove("hole")
tries("hole", hole)`,
    },
    {
      name: 'memory beyond its limit',
      code: `
def takes():
    held = []
    for _ in range(32): held.append(bytearray(b"x" * 2**26))
    return True
tries("memory", takes)`,
    },
  ]
}
