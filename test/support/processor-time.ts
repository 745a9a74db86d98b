/**
 * Milliseconds of processor time that this thread has used: what work in it costs, however busy the machine is.
 * A clock on the wall also counts the work of others.
 */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
