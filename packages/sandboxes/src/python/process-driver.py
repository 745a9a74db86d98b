# The loop of the sandboxes that are processes: jobs come in and results go out as frames, through descriptors that the
# code does not know about. If the code tampers with them, it harms only itself: all of this runs in the sandbox.
import json
import os
import select
import signal
import stat
import tempfile
import threading

# Far above the descriptors that code opens, so that it does not hit these by accident.
PRIVATE_DESCRIPTORS = 200
CHUNK = 65536
# Files that are checked for changes; many times more than a run may return.
MAXIMUM_SEEN = 10_000


def private(descriptor):
    import fcntl

    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, PRIVATE_DESCRIPTORS)


def read_exactly(descriptor, size):
    parts = []
    while size > 0:
        part = os.read(descriptor, min(size, CHUNK))
        if not part:
            # The server has gone.
            os._exit(0)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def write_fully(descriptor, data):
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def read_frame(descriptor):
    header = json.loads(read_exactly(descriptor, int.from_bytes(read_exactly(descriptor, 4), "big")))
    return header, [read_exactly(descriptor, size) for size in header["sizes"]]


def write_header(descriptor, header):
    text = json.dumps(header).encode()
    write_fully(descriptor, len(text).to_bytes(4, "big") + text)


class Output:
    """Reads what is written to the two output streams, keeps as much as fits, and drops the rest."""

    def __init__(self, most):
        self.most = most
        self.readers, self.writers = [], []
        for _ in range(2):
            reader, writer = os.pipe()
            os.set_blocking(reader, False)
            self.readers.append(private(reader))
            self.writers.append(private(writer))
            os.close(reader)
            os.close(writer)
        self.waker, self.wake = (private(end) for end in os.pipe())
        self.drained = threading.Event()
        self.renew()
        threading.Thread(target=self.keep_reading, daemon=True).start()

    def renew(self):
        self.kept = {reader: [] for reader in self.readers}
        self.room, self.cut = self.most, False

    def keep_reading(self):
        while True:
            ready, _, _ = select.select([*self.readers, self.waker], [], [])
            # Descriptors are read in turn: this also takes what arrived between two reads.
            received = [self.take(reader) for reader in self.readers]
            if self.waker in ready and not any(received):
                os.read(self.waker, 1)
                self.drained.set()

    def take(self, reader):
        """Returns whether there was anything to read."""
        try:
            data = os.read(reader, CHUNK)
        except BlockingIOError:
            return False
        kept = data[: self.room]
        self.room -= len(kept)
        self.cut = self.cut or len(kept) < len(data)
        if kept:
            self.kept[reader].append(kept)
        return True

    def drain(self):
        """What was written so far; waits at most 5 s for a process that keeps writing."""
        self.drained.clear()
        os.write(self.wake, b".")
        self.drained.wait(5)
        return [b"".join(self.kept[reader]) for reader in self.readers]

    def connect(self):
        for number, writer in enumerate(self.writers, 1):
            os.dup2(writer, number)
        sys.stdout = open(1, "w", closefd=False, encoding="utf-8", errors="backslashreplace")
        sys.stderr = open(2, "w", closefd=False, encoding="utf-8", errors="backslashreplace", buffering=1)


def connect_input(data):
    file = tempfile.TemporaryFile()
    file.write(data)
    file.seek(0)
    # The file itself has descriptor 0 if the previous run closed standard input.
    descriptor = private(file.fileno())
    file.close()
    os.dup2(descriptor, 0)
    os.close(descriptor)
    sys.stdin = open(0, closefd=False, encoding="utf-8", errors="surrogateescape")


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            # Closed by the code; what was buffered is lost.
            pass


def place(names, contents):
    for name, data in zip(names, contents):
        directory = os.path.dirname(name)
        if directory:
            os.makedirs(directory, exist_ok=True)
        with open(name, "wb") as file:
            file.write(data)


def look():
    """The regular files below the working directory, each with the state that shows whether it has changed."""
    seen = {}
    for directory, _, names in os.walk("."):
        for name in names:
            path = os.path.join(directory, name)
            try:
                status = os.lstat(path)
            except OSError:
                continue
            if stat.S_ISREG(status.st_mode) and len(seen) < MAXIMUM_SEEN:
                seen[path[2:]] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return seen


def is_name(name, longest):
    encoded = name.encode("utf-8", "surrogateescape")
    steps = name.split("/")
    return len(encoded) <= longest and name.isprintable() and "\\" not in name and all(s[0] != "." for s in steps)


def open_changed(before, settings):
    """Opens the changed files that may be returned: descriptors with name and size, and how many are left out."""
    changed = sorted(path for path, state in look().items() if before.get(path) != state)
    opened, room = [], settings["fileBytes"]
    for name in changed:
        if len(opened) == settings["files"] or not is_name(name, settings["name"]):
            continue
        try:
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            continue
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) and status.st_size <= room:
            room -= status.st_size
            opened.append((name, descriptor, status.st_size))
        else:
            os.close(descriptor)
    return opened, len(changed) - len(opened)


def send_file(target, descriptor, size):
    """Sends exactly as many bytes as were announced, padded with zeros if the file has become shorter."""
    while size > 0:
        part = os.read(descriptor, min(size, CHUNK)) or bytes(min(size, CHUNK))
        write_fully(target, part)
        size -= len(part)
    os.close(descriptor)


def ancestors():
    pid, found = os.getpid(), {1}
    while pid > 1:
        found.add(pid)
        with open(f"/proc/{pid}/stat") as file:
            pid = int(file.read().rpartition(")")[2].split()[1])
    return found


def end_strays(spared):
    """Kills processes that the code left running; repeats, since they may start more meanwhile."""
    for _ in range(20):
        strays = [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) not in spared]
        living = [pid for pid in strays if is_living(pid)]
        if not living:
            return
        for pid in living:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        reap()


def is_living(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except OSError:
        pass


def confine(settings):
    """Sets the limits that the surrounding sandbox leaves to this process."""
    import resource

    if "directory" in settings:
        os.makedirs(settings["directory"], exist_ok=True)
        os.chdir(settings["directory"])
    bounds = {
        resource.RLIMIT_AS: settings.get("addressSpace"),
        resource.RLIMIT_NPROC: settings.get("processes"),
        resource.RLIMIT_FSIZE: settings["fileBytes"],
        resource.RLIMIT_CORE: 0,
    }
    for name, bound in bounds.items():
        if bound is not None:
            resource.setrlimit(name, (bound, bound))


def serve(settings):
    confine(settings)
    source, target = private(0), private(1)
    home, spared, me = os.getcwd(), ancestors(), os.getpid()
    output = Output(settings["outputBytes"])
    namespace = {"__name__": "__main__", "__builtins__": __builtins__}
    write_header(target, {"ready": True, "sizes": []})
    while True:
        header, (code, data, *contents) = read_frame(source)
        output.renew()
        output.connect()
        os.chdir(home)
        status = 1
        try:
            connect_input(data)
            place(header["names"], contents)
            before = look()
        except OSError as error:
            before = look()
            print(f"The files could not be put into the working directory: {error}", file=sys.stderr)
        else:
            status = run_cell(code.decode(), namespace)
        flush()
        if os.getpid() != me:
            # A child that the code forked, and which returned from the code to here.
            os._exit(status)
        end_strays(spared)
        os.chdir(home)
        stdout, stderr = output.drain()
        opened, left_out = open_changed(before, settings)
        write_header(
            target,
            {
                "exitCode": status,
                "outputCut": output.cut,
                "names": [name for name, _, _ in opened],
                "filesLeftOut": left_out,
                "sizes": [len(stdout), len(stderr), *(size for _, _, size in opened)],
            },
        )
        write_fully(target, stdout)
        write_fully(target, stderr)
        for _, descriptor, size in opened:
            send_file(target, descriptor, size)


serve(json.loads(sys.argv[1]))
