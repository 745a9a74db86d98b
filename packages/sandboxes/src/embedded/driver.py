# The loop of the embedded sandbox: the process around it hands over code and receives exit codes in one channel.
import os


def read_exactly(channel, size):
    data = b""
    while len(data) < size:
        data += os.read(channel, size - len(data))
    return data


def renew_streams():
    """Resets the streams, whatever the previous run did to them."""
    sys.stdin = open(0, closefd=False)
    sys.stdout = open(1, "w", closefd=False)
    sys.stderr = open(2, "w", closefd=False, errors="backslashreplace", buffering=1)


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            # Closed by the code; what was buffered is lost.
            pass


def serve():
    channel = os.open("/channel", os.O_RDWR)
    namespace = {"__name__": "__main__", "__builtins__": __builtins__}
    while True:
        code = read_exactly(channel, int(read_exactly(channel, 16))).decode()
        os.chdir("/work")
        renew_streams()
        status = run_cell(code, namespace)
        flush()
        os.write(channel, str(status).encode())


serve()
