import { type Fd, type WASI, wasi } from '@bjorn3/browser_wasi_shim'

/** Files that may be open at the same time. */
const MAXIMUM_OPEN = 512
const SUBSCRIPTION_BYTES = 48
const NANOSECONDS_PER_MILLISECOND = 1e6
/** Where a subscription holds what it waits for, and an event what has happened. */
const SUBSCRIPTION = { kind: 8, clock: 16, timeout: 24, flags: 40 }
const EVENT = { error: 8, kind: 10 }

type Imports = Record<string, (...parameters: never[]) => unknown>

/**
 * The shim's functions but for those that busy-wait, throw, lose descriptors or report as failed what a
 * program may do without.
 */
export function wasiImports(system: WASI): Imports {
  const shim = system.wasiImport
  const memory = () => new DataView(system.inst.exports.memory.buffer)
  const done = () => wasi.ERRNO_SUCCESS
  const unsupported = () => wasi.ERRNO_NOTSUP

  return {
    ...shim,
    poll_oneoff: (subscriptions: number, events: number, count: number, happened: number) =>
      sleep(memory, subscriptions, events, count, happened),
    path_open: (...parameters: number[]) => openAtFreeDescriptor(system, memory, parameters),
    // The streams belong to all runs.
    fd_close: (fd: number) => (fd <= wasi.FD_STDERR ? done() : shim.fd_close?.(fd)),
    fd_renumber: (from: number, to: number) =>
      Math.min(from, to) <= wasi.FD_STDERR ? wasi.ERRNO_BADF : shim.fd_renumber?.(from, to),
    sched_yield: done,
    fd_filestat_set_times: done,
    path_filestat_set_times: done,
    sock_accept: unsupported,
    sock_recv: unsupported,
    sock_send: unsupported,
    sock_shutdown: unsupported,
  }
}

/** The shim takes a new number for each file that is opened; this one gives it the first that is free. */
function openAtFreeDescriptor(
  system: WASI,
  memory: () => DataView,
  parameters: readonly number[],
): unknown {
  const descriptors: (Fd | undefined)[] = system.fds
  const free = descriptors.indexOf(undefined)
  if (free < 0 && descriptors.length >= MAXIMUM_OPEN) return wasi.ERRNO_MFILE
  const result = system.wasiImport.path_open?.(...parameters)
  if (result !== wasi.ERRNO_SUCCESS || free < 0) return result
  descriptors[free] = descriptors.pop()
  memory().setUint32(parameters.at(-1) ?? 0, free, true)
  return result
}

/** Sleeps until the first of the clocks has run down; there is nothing else that a program could wait for. */
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
