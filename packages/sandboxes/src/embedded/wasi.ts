import { Fd, type WASI, wasi } from '@bjorn3/browser_wasi_shim'

/** Files that may be open at the same time. */
const MAX_OPEN = 512
const SUBSCRIPTION_BYTES = 48
const NANOSECONDS_PER_MILLISECOND = 1e6
/** Field offsets in a WASI subscription (what is waited for) and in an event (what has happened). */
const SUBSCRIPTION = { kind: 8, clock: 16, timeout: 24, flags: 40 }
const EVENT = { error: 8, kind: 10 }

type Imports = Record<string, (...parameters: never[]) => unknown>

/**
 * The shim's functions, except those that busy-wait, throw, leak descriptors, or fail for something that a program can
 * do without.
 */
export function wasiImports(system: WASI): Imports {
  const shim = system.wasiImport
  const memory = () => new DataView(system.inst.exports.memory.buffer)
  const succeed = () => wasi.ERRNO_SUCCESS
  const unsupported = () => wasi.ERRNO_NOTSUP

  return {
    ...shim,
    poll_oneoff: (subscriptions: number, events: number, count: number, happened: number) =>
      sleep(memory, subscriptions, events, count, happened),
    path_open: (...parameters: number[]) => openAtFreeDescriptor(system, memory, parameters),
    // The standard streams are shared by all runs and stay open.
    fd_close: (fd: number) => (fd <= wasi.FD_STDERR ? succeed() : shim.fd_close?.(fd)),
    fd_renumber: (from: number, to: number) =>
      Math.min(from, to) <= wasi.FD_STDERR ? wasi.ERRNO_BADF : shim.fd_renumber?.(from, to),
    sched_yield: succeed,
    fd_filestat_set_times: succeed,
    path_filestat_set_times: succeed,
    sock_accept: unsupported,
    sock_recv: unsupported,
    sock_send: unsupported,
    sock_shutdown: unsupported,
  }
}

/** The shim uses a new descriptor for each opened file; this returns the lowest free one instead. */
function openAtFreeDescriptor(
  system: WASI,
  memory: () => DataView,
  parameters: readonly number[],
): unknown {
  const descriptors: (Fd | undefined)[] = system.fds
  const free = descriptors.indexOf(undefined)
  if (free < 0 && descriptors.length >= MAX_OPEN) return wasi.ERRNO_MFILE
  const result = system.wasiImport.path_open?.(...parameters)
  if (result !== wasi.ERRNO_SUCCESS || free < 0) return result
  descriptors[free] = descriptors.pop()
  memory().setUint32(parameters.at(-1) ?? 0, free, true)
  return result
}

/** Sleeps until the first of the clocks expires; clocks are the only events that a program can wait for here. */
function sleep(
  memory: () => DataView,
  subscriptions: number,
  events: number,
  count: number,
  happened: number,
): number {
  const view = memory()
  const clocks = Array.from({ length: count }, (_, i) => subscriptions + i * SUBSCRIPTION_BYTES)
    .filter((at) => view.getUint8(at + SUBSCRIPTION.kind) === wasi.EVENTTYPE_CLOCK)
    .map((at) => ({ userdata: view.getBigUint64(at, true), wait: waitOf(view, at) }))
    .toSorted((a, b) => a.wait - b.wait)
  const [first] = clocks
  if (!first) return wasi.ERRNO_NOTSUP
  const { userdata, wait } = first
  if (wait > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, wait)
  view.setBigUint64(events, userdata, true)
  view.setUint16(events + EVENT.error, wasi.ERRNO_SUCCESS, true)
  view.setUint8(events + EVENT.kind, wasi.EVENTTYPE_CLOCK)
  view.setUint32(happened, 1, true)
  return wasi.ERRNO_SUCCESS
}

/** Milliseconds from now. */
function waitOf(view: DataView, at: number): number {
  const timeout = Number(view.getBigUint64(at + SUBSCRIPTION.timeout, true))
  const flags = view.getUint16(at + SUBSCRIPTION.flags, true)
  const milliseconds = timeout / NANOSECONDS_PER_MILLISECOND
  if ((flags & wasi.SUBCLOCKFLAGS_SUBSCRIPTION_CLOCK_ABSTIME) === 0) return milliseconds
  const realtime = view.getUint32(at + SUBSCRIPTION.clock, true) === wasi.CLOCKID_REALTIME
  return milliseconds - (realtime ? Date.now() : performance.now())
}

/** A character device, like the standard streams of a program. */
class Device extends Fd {
  override fd_filestat_get() {
    const filestat = new wasi.Filestat(0n, wasi.FILETYPE_CHARACTER_DEVICE, 0n)
    return { ret: wasi.ERRNO_SUCCESS, filestat }
  }

  override fd_fdstat_get() {
    const fdstat = new wasi.Fdstat(wasi.FILETYPE_CHARACTER_DEVICE, 0)
    fdstat.fs_rights_base = BigInt(wasi.RIGHTS_FD_READ | wasi.RIGHTS_FD_WRITE)
    return { ret: wasi.ERRNO_SUCCESS, fdstat }
  }
}

/** Standard input: the bytes given for the run, then end of file. */
export class InputStream extends Device {
  #rest: Uint8Array = new Uint8Array(0)

  renew(bytes: Uint8Array): void {
    this.#rest = bytes
  }

  get isAtEnd(): boolean {
    return this.#rest.byteLength === 0
  }

  override fd_read(size: number) {
    const data = this.#rest.subarray(0, size)
    this.#rest = this.#rest.subarray(data.byteLength)
    return { ret: wasi.ERRNO_SUCCESS, data }
  }
}

/** The bytes that both output streams of a run may hold together. */
export class OutputBudget {
  readonly #most: number
  #remaining = 0
  cut = false

  constructor(most: number) {
    this.#most = most
  }

  renew(): void {
    this.#remaining = this.#most
    this.cut = false
  }

  /** Returns as many of the bytes as still fit. */
  take(bytes: Uint8Array): Uint8Array {
    const part = bytes.subarray(0, this.#remaining)
    this.#remaining -= part.byteLength
    this.cut ||= part.byteLength < bytes.byteLength
    return part
  }
}

/** Standard output or error: kept within the budget, dropped beyond it, never refused. */
export class OutputStream extends Device {
  readonly #budget: OutputBudget
  #parts: Uint8Array[] = []

  constructor(budget: OutputBudget) {
    super()
    this.#budget = budget
  }

  override fd_write(data: Uint8Array) {
    const part = this.#budget.take(data)
    if (part.byteLength > 0) this.#parts.push(Uint8Array.from(part))
    return { ret: wasi.ERRNO_SUCCESS, nwritten: data.byteLength }
  }

  /** What was written since the last call. */
  drain(): Buffer {
    const all = Buffer.concat(this.#parts)
    this.#parts = []
    return all
  }
}
